#include <thread>

#include "integration/library.hpp"

/// Renewal in the background, its limits, and leases that are not renewed.
namespace holdfast::test {
namespace {

constexpr milliseconds short_ttl = 300ms * slowness;

class watchdog : public testing::Test {
  protected:
    redis_server server_;
    client client_{server_.url()};
};

TEST_F(watchdog, a_lease_outlives_its_ttl_while_it_is_held) {
    const auto held = mutex(client_, "k", with_ttl(short_ttl)).acquire();
    const auto owner = held.owner();
    for (const stopwatch watch; watch.elapsed() < 4 * short_ttl;) {
        ASSERT_EQ(server_.get("k"), owner);
        ASSERT_FALSE(held.lost());
        std::this_thread::sleep_for(5ms);
    }
    EXPECT_FALSE(held.stop_token().stop_requested());
    EXPECT_GE(client_.statistics().renewed, 5U);
}

TEST_F(watchdog, renews_every_third_of_the_ttl) {
    const auto held = mutex(client_, "k", with_ttl(900ms)).acquire();
    const auto first = held.valid_until();
    EXPECT_TRUE(eventually(surely, [&] { return held.valid_until() > first; }));
    const auto step = std::chrono::duration_cast<milliseconds>(held.valid_until() - first);
    EXPECT_GE(step, 300ms);
    EXPECT_LT(step, 300ms + promptly);
}

std::uint64_t reads_of(const redis_server& server) {
    const auto facts = server.command({"INFO", "stats"});
    const std::string_view name = "total_reads_processed:";
    return std::stoull(facts.substr(facts.find(name) + name.size()));
}

TEST_F(watchdog, renews_many_leases_in_few_writes) {
    std::vector<lease> held;
    for (int n = 0; n < 400; ++n) {  // at different times, and so are their renewals
        held.push_back(mutex(client_, "k" + std::to_string(n), with_ttl(9s)).acquire());
    }
    const auto before = reads_of(server_);
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().renewed >= held.size(); }));
    EXPECT_LT(reads_of(server_) - before, held.size() / 2);
}

TEST_F(watchdog, renews_while_the_holder_itself_keeps_the_client_busy) {
    const auto held = mutex(client_, "k", with_ttl(short_ttl)).acquire();
    mutex other(client_, "other");
    for (const stopwatch watch; watch.elapsed() < 3 * short_ttl;) {
        const std::scoped_lock busy(other);
        ASSERT_FALSE(held.lost());
    }
}

TEST_F(watchdog, renews_while_other_threads_wait) {
    client rival(server_.url());
    const auto theirs = mutex(rival, "busy").acquire();
    std::thread waiter(
        [&] { EXPECT_FALSE(mutex(client_, "busy").try_acquire_for(4 * short_ttl)); });
    const auto held = mutex(client_, "k", with_ttl(short_ttl)).acquire();
    waiter.join();
    EXPECT_FALSE(held.lost());
    EXPECT_TRUE(held.verify());
}

TEST_F(watchdog, a_fixed_lease_ends_with_its_ttl) {
    acquire_options how = with_ttl(short_ttl);
    how.renew = false;
    const auto held = mutex(client_, "k", how).acquire();
    const auto until = held.valid_until();
    EXPECT_TRUE(eventually(surely, [&] { return held.lost(); }));
    EXPECT_GE(clock::now(), until);
    EXPECT_EQ(held.valid_until(), until);
    EXPECT_EQ(client_.statistics().renewed, 0U);
    EXPECT_TRUE(eventually(promptly, [&] { return !server_.exists("k"); }));
}

TEST_F(watchdog, a_fixed_lease_can_be_extended_by_hand) {
    acquire_options how = with_ttl(short_ttl);
    how.renew = false;
    auto held = mutex(client_, "k", how).acquire();
    held.extend(20s);
    EXPECT_GT(held.remaining(), 15s);
    EXPECT_GT(server_.pttl("k"), 15'000);
    held.extend(1s);  // never shortens
    EXPECT_GT(held.remaining(), 15s);
    EXPECT_GT(server_.pttl("k"), 15'000);
}

TEST_F(watchdog, a_watched_lease_keeps_what_it_was_extended_to) {
    auto held = mutex(client_, "k", with_ttl(short_ttl)).acquire();
    held.extend(20s);
    const auto renewed = client_.statistics().renewed;
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().renewed > renewed; }));
    EXPECT_GT(held.remaining(), 15s);
    EXPECT_GT(server_.pttl("k"), 15'000);
}

TEST_F(watchdog, max_hold_ends_a_lease_that_is_renewed_until_then) {
    acquire_options how = with_ttl(short_ttl);
    how.max_hold = 2 * short_ttl;
    const stopwatch watch;
    const auto held = mutex(client_, "k", how).acquire();
    const auto stop = held.stop_token();
    EXPECT_TRUE(eventually(surely, [&] { return held.lost(); }));
    EXPECT_GE(watch.elapsed(), 2 * short_ttl);
    EXPECT_LT(watch.elapsed(), 2 * short_ttl + promptly);
    EXPECT_TRUE(eventually(promptly, [&] { return stop.stop_requested(); }));
    EXPECT_GE(client_.statistics().renewed, 1U);
    // The key dies soon after the holder stopped believing in it, not a whole ttl later.
    EXPECT_TRUE(eventually(promptly, [&] { return !server_.exists("k"); }));
}

TEST_F(watchdog, max_hold_below_the_ttl_ends_the_lease_sooner) {
    acquire_options how = with_ttl(30s);
    how.max_hold = short_ttl;
    const auto held = mutex(client_, "k", how).acquire();
    EXPECT_LE(held.remaining(), short_ttl);
    EXPECT_TRUE(eventually(surely, [&] { return held.lost(); }));
    EXPECT_EQ(held.remaining(), clock::duration{0});
}

TEST_F(watchdog, guard_time_is_never_believed) {
    acquire_options how = with_ttl(10s);
    how.guard_time = 4s;
    const auto held = mutex(client_, "k", how).acquire();
    EXPECT_LE(held.remaining(), 6s);
    EXPECT_GT(held.remaining(), 4s);
    EXPECT_GT(server_.pttl("k"), 9'000);
}

TEST_F(watchdog, verify_asks_the_server) {
    const auto held = mutex(client_, "k", with_ttl(30s)).acquire();
    EXPECT_TRUE(held.verify());
    server_.command({"SET", "k", "somebody else"});
    EXPECT_FALSE(held.verify());
    server_.command({"DEL", "k"});
    EXPECT_FALSE(held.verify());
    server_.command({"LPUSH", "k", "a list"});
    EXPECT_FALSE(held.verify());
}

TEST_F(watchdog, verify_loses_a_lease_that_is_gone) {
    auto held = mutex(client_, "k", with_ttl(30s)).acquire();
    const auto stop = held.stop_token();
    server_.command({"DEL", "k"});
    EXPECT_FALSE(held.verify());
    EXPECT_TRUE(held.lost());
    EXPECT_TRUE(eventually(promptly, [&] { return stop.stop_requested(); }));
    EXPECT_EQ(error_of([&] { held.ensure_held(); }).code, errc::lost);
    EXPECT_TRUE(mutex(client_, "k").try_acquire_for(surely)) << "nobody here holds it any more";
    EXPECT_EQ(held.release(), release_result::already_lost);
}

TEST_F(watchdog, extend_finds_out_that_the_lease_is_gone) {
    auto held = mutex(client_, "k", with_ttl(30s)).acquire();
    server_.command({"SET", "k", "somebody else", "PX", "5000"});
    EXPECT_EQ(error_of([&] { held.extend(30s); }).code, errc::lost);
    EXPECT_TRUE(held.lost());
    EXPECT_TRUE(eventually(promptly, [&] { return held.stop_token().stop_requested(); }));
    EXPECT_EQ(server_.get("k"), "somebody else");
    EXPECT_LE(server_.pttl("k"), 5000);
}

TEST_F(watchdog, a_key_that_is_gone_is_never_created_again_by_extending) {
    auto held = mutex(client_, "k", with_ttl(30s)).acquire();
    server_.command({"DEL", "k"});
    std::error_code error;
    EXPECT_FALSE(held.extend(30s, error));
    EXPECT_EQ(error, errc::lost);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(watchdog, a_lease_whose_loss_was_announced_is_not_extended_any_more) {
    acquire_options how = with_ttl(1s);
    how.renew = false;
    how.loss_notice = 900ms;
    auto held = mutex(client_, "k", how).acquire();
    const auto stop = held.stop_token();
    EXPECT_TRUE(eventually(surely, [&] { return stop.stop_requested(); }));
    const auto error = error_of([&] { held.extend(30s); });
    EXPECT_EQ(error.code, errc::lost);
    EXPECT_LE(server_.pttl("k"), 1000) << "the key would block others for a lease nobody has";
}

TEST_F(watchdog, a_detached_lock_stays_until_its_ttl_is_over) {
    std::string owner;
    {
        auto held = mutex(client_, "k", with_ttl(short_ttl)).acquire();
        owner = held.owner();
        held.detach();
    }
    EXPECT_EQ(server_.get("k"), owner);
    const auto renewed = client_.statistics().renewed;
    EXPECT_TRUE(eventually(surely, [&] { return !server_.exists("k"); }));
    EXPECT_EQ(client_.statistics().renewed, renewed);
    EXPECT_EQ(client_.statistics().held_now, 0U);
}

TEST_F(watchdog, a_detached_lock_is_not_extended) {
    auto held = mutex(client_, "k", with_ttl(short_ttl)).acquire();
    held.detach();
    EXPECT_EQ(error_of([&] { held.extend(30s); }).code, errc::not_held);
    EXPECT_LE(server_.pttl("k"), short_ttl.count());
}

TEST_F(watchdog, a_detached_lock_still_excludes_the_same_client) {
    auto held = mutex(client_, "k", with_ttl(short_ttl)).acquire();
    held.detach();
    EXPECT_FALSE(mutex(client_, "k").try_acquire());
    EXPECT_TRUE(mutex(client_, "k").try_acquire_for(surely));
}

}  // namespace
}  // namespace holdfast::test
