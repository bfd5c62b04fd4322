#include <atomic>
#include <future>
#include <shared_mutex>
#include <thread>

#include "holdfast/operate.hpp"
#include "integration/quorum.hpp"

/// Many read, or one writes, where several servers vote.
namespace holdfast::test {
namespace {

class shared_quorum : public testing::Test {
  protected:
    quorum servers_{3};
    client client_{servers_.settings()};
    client other_{servers_.settings()};
    shared_mutex here_{client_, "k"};
    shared_mutex there_{other_, "k"};
};

TEST_F(shared_quorum, readers_share_and_exclude_writers) {
    auto one = here_.acquire_shared();
    auto two = there_.acquire_shared();
    EXPECT_FALSE(here_.try_acquire());
    EXPECT_FALSE(mutex(other_, "k").try_acquire());
    EXPECT_TRUE(one.verify());
    EXPECT_TRUE(two.verify());
    EXPECT_EQ(one.release(), release_result::released);
    EXPECT_FALSE(here_.try_acquire());
    EXPECT_EQ(two.release(), release_result::released);
    auto writes = here_.try_acquire();
    ASSERT_TRUE(writes);
    EXPECT_FALSE(there_.try_acquire_shared());
    writes->release();
    EXPECT_EQ(servers_.holders_of("k"), 0U);
    EXPECT_EQ(servers_.holders_of("holdfast:{k}:readers"), 0U);
}

TEST_F(shared_quorum, readers_and_writers_are_told_when_the_lock_is_free) {
    auto writes = here_.acquire();
    auto reads = std::async(std::launch::async, [&] { return there_.acquire_shared(); });
    ASSERT_TRUE(eventually(surely, [&] { return other_.statistics().denied >= 2; }));
    writes.release();
    auto held = reads.get();
    auto waits = std::async(std::launch::async, [&] { return here_.acquire(); });
    ASSERT_TRUE(eventually(surely, [&] { return client_.statistics().denied >= 1; }));
    EXPECT_EQ(waits.wait_for(100ms), std::future_status::timeout);
    held.release();
    EXPECT_TRUE(waits.get().verify());
}

TEST_F(shared_quorum, goes_on_with_a_minority_of_the_servers_gone) {
    auto one = here_.acquire_shared();
    servers_.server(2).kill_hard();
    auto two = there_.acquire_shared();
    EXPECT_TRUE(one.verify());
    EXPECT_TRUE(two.verify());
    EXPECT_FALSE(here_.try_acquire());
    EXPECT_EQ(one.release(), release_result::released);
    EXPECT_EQ(two.release(), release_result::released);
    EXPECT_TRUE(there_.try_acquire());
}

TEST_F(shared_quorum, readers_who_came_to_the_servers_in_another_order_are_no_split_vote) {
    // As if three had come first, each to another server.
    for (std::size_t n = 0; n < 3; ++n) {
        const auto owner = "hr1:" + std::string(39, 'a') + std::to_string(n) + ":a@b:1:";
        servers_.server(n).command({"SET", "k", owner, "PX", "30000"});
    }
    const auto reads = here_.try_acquire_shared();
    ASSERT_TRUE(reads);
    EXPECT_TRUE(reads->verify());
    const auto found = inspect(client_, "k");
    EXPECT_EQ(found.votes, 3U);
    ASSERT_TRUE(found.readers);
    ASSERT_EQ(found.readers->size(), 1U) << "the others have no majority";
    EXPECT_EQ(found.readers->at(0).who.owner, reads->owner());
}

TEST_F(shared_quorum, a_writers_token_exceeds_those_of_all_readers_before_it) {
    std::uint64_t highest = 0;
    for (int round = 0; round < 10; ++round) {
        std::atomic<std::uint64_t> read = 0;
        {
            std::vector<std::jthread> readers;
            for (auto* lock : {&here_, &there_}) {
                readers.emplace_back([&, lock] {
                    const auto reads = lock->acquire_shared();
                    EXPECT_GT(reads.token(), highest) << "of the writers before";
                    auto seen = read.load();
                    while (reads.token() > seen &&
                           !read.compare_exchange_weak(seen, reads.token())) {
                    }
                });
            }
        }
        const auto writes = (round % 2 == 0 ? here_ : there_).acquire();
        EXPECT_GT(writes.token(), read.load());
        highest = writes.token();
    }
}

TEST_F(shared_quorum, a_writer_goes_on_reading) {
    auto reads = here_.downgrade(here_.acquire());
    EXPECT_TRUE(reads.verify());
    EXPECT_FALSE(there_.try_acquire());
    EXPECT_TRUE(there_.try_acquire_shared());
    EXPECT_EQ(reads.release(), release_result::released);
    EXPECT_TRUE(eventually(surely, [&] { return servers_.holders_of("k") == 0; }));
}

TEST_F(shared_quorum, a_writer_goes_on_reading_where_some_servers_do_not_hear_of_it) {
    auto writes = here_.acquire();
    servers_.server(0).pause();
    auto reads = here_.downgrade(std::move(writes));
    EXPECT_FALSE(reads.lost());
    servers_.server(0).resume();
    EXPECT_TRUE(eventually(surely, [&] { return there_.try_acquire_shared().has_value(); }));
    EXPECT_TRUE(reads.verify());
    EXPECT_EQ(reads.release(), release_result::released);
    EXPECT_TRUE(eventually(surely, [&] { return servers_.holders_of("k") == 0; }));
}

TEST_F(shared_quorum, a_waiting_writer_of_a_client_comes_before_readers_of_it_who_come_later) {
    auto reads = here_.acquire_shared();
    auto writes = std::async(std::launch::async, [&] { return here_.acquire(); });
    ASSERT_TRUE(eventually(surely, [&] { return !here_.try_acquire_shared(); }));
    reads.release();
    EXPECT_TRUE(writes.get().verify());
}

}  // namespace
}  // namespace holdfast::test
