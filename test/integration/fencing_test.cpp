#include <algorithm>
#include <mutex>
#include <set>
#include <thread>

#include "integration/library.hpp"
#include "support/lock_process.hpp"

namespace holdfast::test {
namespace {

class fencing : public testing::Test {
  protected:
    redis_server server_;
    client client_{server_.url()};
};

std::uint64_t token_in(const std::string& answer) { return std::stoull(answer.substr(5)); }

TEST_F(fencing, tokens_increase_strictly_from_holder_to_holder) {
    client other(server_.url());
    lock_process third(server_.url());
    std::uint64_t last = 0;
    for (int round = 0; round < 10; ++round) {
        const auto mine = mutex(client_, "k").acquire().token();
        const auto theirs = mutex(other, "k").acquire().token();
        const auto foreign = token_in(third.expect("acquire k 10000", "held "));
        third.expect("release", "released");
        EXPECT_GT(mine, last);
        EXPECT_GT(theirs, mine);
        EXPECT_GT(foreign, theirs);
        last = foreign;
    }
}

TEST_F(fencing, tokens_of_many_threads_are_unique_and_in_order) {
    std::vector<std::uint64_t> tokens;  // guarded by the lock under test
    std::vector<std::thread> workers;
    mutex shared(client_, "k");
    for (int n = 0; n < 8; ++n) {
        workers.emplace_back([&] {
            for (int round = 0; round < 20; ++round) {
                const std::scoped_lock held(shared);
                tokens.push_back(shared.current()->token());
            }
        });
    }
    for (auto& worker : workers) worker.join();
    EXPECT_EQ(tokens.size(), 160U);
    EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
    EXPECT_EQ(std::set(tokens.begin(), tokens.end()).size(), tokens.size());
}

TEST_F(fencing, tokens_increase_after_the_counter_is_lost) {
    const auto before = mutex(client_, "k").acquire().token();
    server_.command({"FLUSHALL"});
    EXPECT_GT(mutex(client_, "k").acquire().token(), before);
}

TEST_F(fencing, tokens_increase_after_a_restart_without_data) {
    const auto before = mutex(client_, "k").acquire().token();
    server_.restart(data::lost);
    EXPECT_GT(mutex(client_, "k").acquire().token(), before);
}

// Everything since the snapshot is gone, so the counter stands where it stood long ago.
TEST_F(fencing, tokens_increase_after_a_restart_that_rolled_the_counter_back) {
    (void)mutex(client_, "k").acquire();
    server_.command({"SAVE"});
    for (int n = 0; n < 5; ++n) (void)mutex(client_, "k").acquire();
    const auto before = mutex(client_, "k").acquire().token();
    server_.kill_hard();
    server_.start();
    const auto rolled_back = std::stoull(server_.get("holdfast:{k}:fence").value());
    EXPECT_LT(rolled_back, before) << "otherwise nothing is tested";
    EXPECT_GT(mutex(client_, "k").acquire().token(), before);
}

TEST_F(fencing, tokens_increase_after_an_idle_counter_has_expired) {
    auto settings = settings_for(server_.url());
    settings.max_ttl = 100ms;
    settings.fence_retention = 100ms;
    client forgetful(settings);
    const auto before = mutex(forgetful, "k", with_ttl(100ms)).acquire().token();
    EXPECT_TRUE(eventually(surely, [&] { return !server_.exists("holdfast:{k}:fence"); }));
    EXPECT_GT(mutex(forgetful, "k", with_ttl(100ms)).acquire().token(), before);
}

TEST_F(fencing, the_counter_lives_as_long_as_a_lease_that_is_renewed) {
    auto settings = settings_for(server_.url());
    settings.max_ttl = 200ms;
    settings.fence_retention = 200ms;
    client brief(settings);
    const auto held = mutex(brief, "k", with_ttl(200ms)).acquire();
    const auto until = clock::now() + 600ms;
    EXPECT_TRUE(eventually(
        surely, [&] { return clock::now() > until || !server_.exists("holdfast:{k}:fence"); }));
    EXPECT_TRUE(server_.exists("holdfast:{k}:fence"));
}

TEST_F(fencing, the_counter_is_kept_for_fence_retention_and_no_longer) {
    { const auto held = mutex(client_, "k").acquire(); }
    const auto left = server_.pttl("holdfast:{k}:fence");
    EXPECT_GT(left, 3'590'000);
    EXPECT_LE(left, 3'600'000);
}

TEST_F(fencing, without_it_there_is_no_token_and_no_counter) {
    acquire_options how;
    how.fencing = false;
    const auto held = mutex(client_, "k", how).acquire();
    EXPECT_EQ(held.token(), 0U);
    EXPECT_EQ(server_.command({"DBSIZE"}), "3")
        << "the lock, and the record of the server's life, twice";
}

TEST_F(fencing, a_resource_that_remembers_the_highest_token_refuses_a_stale_holder) {
    struct resource {
        bool write(std::uint64_t token) {
            if (token < highest) return false;
            highest = token;
            return true;
        }
        std::uint64_t highest = 0;
    } database;
    const auto stale = mutex(client_, "k", with_ttl(10s)).acquire();
    EXPECT_TRUE(database.write(stale.token()));
    server_.command({"DEL", "k"});  // as if it had slept beyond its lease
    const auto fresh = mutex(client_, "k").try_acquire_for(10ms);
    client other(server_.url());
    const auto next = mutex(other, "k").acquire();
    EXPECT_TRUE(database.write(next.token()));
    EXPECT_FALSE(database.write(stale.token()));
}

}  // namespace
}  // namespace holdfast::test
