#include <atomic>
#include <barrier>
#include <mutex>
#include <thread>

#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "support/lock_process.hpp"

namespace holdfast::test {
namespace {

class lock_basic : public testing::Test {
  protected:
    redis_server server_;
    client client_{server_.url()};
};

TEST_F(lock_basic, scoped_lock_holds_the_key_and_gives_it_back) {
    mutex one(client_, "orders:1");
    {
        const std::scoped_lock held(one);
        EXPECT_TRUE(server_.exists("orders:1"));
    }
    EXPECT_FALSE(server_.exists("orders:1"));
}

TEST_F(lock_basic, unique_lock_can_defer_try_and_move) {
    mutex one(client_, "k");
    std::unique_lock<mutex> held(one, std::defer_lock);
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_TRUE(held.try_lock());
    auto moved = std::move(held);
    EXPECT_TRUE(server_.exists("k"));
    moved.unlock();
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(lock_basic, try_lock_fails_while_another_client_holds_it) {
    client other(server_.url());
    mutex mine(client_, "k");
    mutex theirs(other, "k");
    ASSERT_TRUE(theirs.try_lock());
    EXPECT_FALSE(mine.try_lock());
    theirs.unlock();
    EXPECT_TRUE(mine.try_lock());
    mine.unlock();
}

TEST_F(lock_basic, two_mutexes_of_one_client_exclude_each_other) {
    mutex first(client_, "k");
    mutex second(client_, "k");
    ASSERT_TRUE(first.try_lock());
    EXPECT_FALSE(second.try_lock());
    first.unlock();
}

TEST_F(lock_basic, the_holder_can_be_found_out) {
    auto settings = settings_for(server_.url());
    settings.label = "billing";
    client other(settings);
    const auto theirs = mutex(other, "k", with_ttl(10s)).acquire();
    const auto mine = mutex(client_, "k").try_acquire();
    ASSERT_FALSE(mine.has_value());
    ASSERT_TRUE(mine.held_by().has_value());
    EXPECT_EQ(mine.held_by()->owner, theirs.owner());
    EXPECT_EQ(mine.held_by()->label, "billing");
    EXPECT_EQ(mine.held_by()->pid, static_cast<std::uint64_t>(::getpid()));
    EXPECT_FALSE(mine.held_by()->user.empty());
    EXPECT_FALSE(mine.held_by()->host.empty());
    EXPECT_FALSE(mine.held_by()->foreign());
    ASSERT_TRUE(mine.held_by()->remaining.has_value());
    EXPECT_LE(*mine.held_by()->remaining, 10s);
    EXPECT_GT(*mine.held_by()->remaining, 5s);
}

TEST_F(lock_basic, the_holder_is_told_also_when_it_is_in_the_same_client_or_unfenced) {
    acquire_options unfenced = with_ttl(10s);
    unfenced.fencing = false;
    const auto theirs = mutex(client_, "k", unfenced).acquire();
    const auto here = mutex(client_, "k").try_acquire();
    ASSERT_TRUE(here.held_by().has_value());
    EXPECT_EQ(here.held_by()->owner, theirs.owner());
    client other(server_.url());
    const auto there = mutex(other, "k", unfenced).try_acquire();
    ASSERT_TRUE(there.held_by().has_value());
    EXPECT_EQ(there.held_by()->owner, theirs.owner());
    EXPECT_GT(there.held_by()->remaining.value_or(0ms), 5s);
}

TEST_F(lock_basic, a_client_can_try_without_a_mutex) {
    client other(server_.url());
    auto mine = client_.try_acquire("k", with_ttl(10s));
    ASSERT_TRUE(mine);
    EXPECT_EQ(server_.get("k"), mine->owner());
    EXPECT_LE(server_.pttl("k"), 10'000);
    const stopwatch watch;
    const auto theirs = other.try_acquire("k");
    EXPECT_LT(watch.elapsed(), promptly);
    ASSERT_FALSE(theirs);
    ASSERT_TRUE(theirs.held_by().has_value());
    EXPECT_EQ(theirs.held_by()->owner, mine->owner());
    mine->release();
    EXPECT_TRUE(other.try_acquire("k"));
    EXPECT_EQ(error_of([&] { (void)other.try_acquire(""); }).code, errc::invalid_key);
}

TEST_F(lock_basic, a_lease_tells_what_it_is) {
    auto held = mutex(client_, "k", with_ttl(10s)).acquire();
    EXPECT_EQ(held.key(), "k");
    EXPECT_EQ(server_.get("k"), held.owner());
    EXPECT_TRUE(held.owner().starts_with("hf1:"));
    EXPECT_GT(held.token(), 0U);
    EXPECT_FALSE(held.lost());
    EXPECT_NO_THROW(held.ensure_held());
    EXPECT_LT(held.remaining(), 10s);
    EXPECT_GT(held.remaining(), 5s);
    EXPECT_GT(held.valid_until(), clock::now());
    EXPECT_FALSE(held.stop_token().stop_requested());
    EXPECT_TRUE(held.verify());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_FALSE(held.stop_token().stop_requested());
}

TEST_F(lock_basic, the_holder_never_believes_longer_than_the_key_lives) {
    auto held = mutex(client_, "k", with_ttl(10s)).acquire();
    const auto believed = held.remaining();
    const auto lives = milliseconds(server_.pttl("k"));
    EXPECT_LT(believed, lives + 100ms * slowness);
    EXPECT_LE(held.valid_until(), clock::now() + lives);
}

TEST_F(lock_basic, a_released_lease_is_not_believed_any_more) {
    auto held = mutex(client_, "k", with_ttl(10s)).acquire();
    ASSERT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(held.lost());
    EXPECT_EQ(held.remaining(), clock::duration{0});
    EXPECT_EQ(error_of([&] { held.ensure_held(); }).code, errc::not_held);
    EXPECT_TRUE(contains(error_of([&] { held.ensure_held(); }).what, "'k' was released"));
    std::error_code error;
    held.ensure_held(error);
    EXPECT_EQ(error, errc::not_held);
    EXPECT_FALSE(held.extend(10s, error));
    EXPECT_EQ(error, errc::not_held);
    EXPECT_EQ(held.release(), release_result::already_lost);
}

TEST_F(lock_basic, a_lease_may_be_moved_to_another_thread_and_released_there) {
    auto held = mutex(client_, "k").acquire();
    std::thread([moved = std::move(held)]() mutable {
        EXPECT_EQ(moved.release(), release_result::released);
    }).join();
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(lock_basic, assigning_a_lease_releases_the_old_one) {
    auto held = mutex(client_, "a").acquire();
    held = mutex(client_, "b").acquire();
    EXPECT_FALSE(server_.exists("a"));
    EXPECT_TRUE(server_.exists("b"));
}

TEST_F(lock_basic, a_mutex_releases_what_it_still_holds_when_it_is_destroyed) {
    {
        mutex one(client_, "k");
        one.lock();
    }
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(lock_basic, current_is_the_lease_of_the_calling_thread) {
    mutex one(client_, "k");
    EXPECT_EQ(one.current(), nullptr);
    one.lock();
    ASSERT_NE(one.current(), nullptr);
    EXPECT_EQ(server_.get("k"), one.current()->owner());
    std::thread([&] { EXPECT_EQ(one.current(), nullptr); }).join();
    one.unlock();
    EXPECT_EQ(one.current(), nullptr);
}

TEST_F(lock_basic, unlocking_what_this_thread_does_not_hold_is_an_error_and_does_nothing) {
    mutex one(client_, "k");
    std::error_code error;
    one.unlock(error);
    EXPECT_EQ(error, errc::not_held);
    one.lock();
    std::thread([&] {
        std::error_code from_another;
        one.unlock(from_another);
        EXPECT_EQ(from_another, errc::not_held);
    }).join();
    EXPECT_TRUE(server_.exists("k"));
    one.unlock(error);
    EXPECT_FALSE(error);
}

TEST_F(lock_basic, std_lock_takes_two_mutexes_in_any_order_without_deadlock) {
    std::atomic<int> rounds = 0;
    const auto work = [&](const char* first, const char* second) {
        client own(server_.url());
        mutex a(own, first);
        mutex b(own, second);
        for (int n = 0; n < 25; ++n) {
            std::lock(a, b);
            const std::scoped_lock held(std::adopt_lock, a, b);
            ++rounds;
        }
    };
    std::thread one(work, "left", "right");
    std::thread two(work, "right", "left");
    one.join();
    two.join();
    EXPECT_EQ(rounds, 50);
    EXPECT_FALSE(server_.exists("left"));
    EXPECT_FALSE(server_.exists("right"));
}

TEST_F(lock_basic, many_threads_never_overlap_and_all_get_through) {
    constexpr int threads = 16;
    constexpr int rounds = 25;
    std::vector<mutex*> unused;
    mutex shared(client_, "k");
    int inside = 0;
    int done = 0;  // guarded by the lock under test
    std::vector<std::thread> workers;
    for (int n = 0; n < threads; ++n) {
        workers.emplace_back([&] {
            for (int round = 0; round < rounds; ++round) {
                const std::scoped_lock held(shared);
                EXPECT_EQ(++inside, 1);
                ++done;
                --inside;
            }
        });
    }
    for (auto& worker : workers) worker.join();
    EXPECT_EQ(done, threads * rounds);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(lock_basic, many_threads_with_distinct_keys_do_not_disturb_each_other) {
    std::atomic<int> done = 0;
    std::vector<std::thread> workers;
    for (int n = 0; n < 16; ++n) {
        workers.emplace_back([&, n] {
            mutex own(client_, "key:" + std::to_string(n));
            for (int round = 0; round < 50; ++round) {
                const std::scoped_lock held(own);
                ++done;
            }
        });
    }
    for (auto& worker : workers) worker.join();
    EXPECT_EQ(done, 16 * 50);
    EXPECT_EQ(client_.statistics().acquired, 16U * 50U);
    EXPECT_EQ(client_.statistics().denied, 0U);
}

TEST_F(lock_basic, clients_and_processes_never_overlap) {
    client other(server_.url());
    lock_process third(server_.url());
    for (int round = 0; round < 5; ++round) {
        third.expect("acquire k 10000", "held");
        EXPECT_FALSE(mutex(client_, "k").try_acquire());
        EXPECT_FALSE(mutex(other, "k").try_acquire());
        third.expect("release", "released");
        const auto mine = mutex(client_, "k").try_acquire();
        ASSERT_TRUE(mine);
        EXPECT_EQ(third.ask("try k 10000"), "denied " + mine->owner());
    }
}

TEST_F(lock_basic, with_lock_passes_the_result_through_and_releases) {
    const auto result = client_.with_lock("k", [&](lease& held) {
        EXPECT_EQ(server_.get("k"), held.owner());
        return std::make_unique<int>(7);
    });
    EXPECT_EQ(*result, 7);
    EXPECT_FALSE(server_.exists("k"));
    client_.with_lock("k", with_ttl(5s), [&](lease&) { EXPECT_LE(server_.pttl("k"), 5000); });
    int target = 0;
    int& reference = client_.with_lock("k", [&](lease&) -> int& { return target; });
    EXPECT_EQ(&reference, &target);
}

TEST_F(lock_basic, with_lock_runs_work_that_takes_no_lease) {
    EXPECT_TRUE(client_.with_lock("k", [&] { return server_.exists("k"); }));
    client_.with_lock("k", with_ttl(5s), [&] { EXPECT_LE(server_.pttl("k"), 5000); });
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(lock_basic, with_lock_releases_when_the_work_throws) {
    EXPECT_THROW(client_.with_lock("k", [](lease&) { throw std::logic_error("work"); }),
                 std::logic_error);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(lock_basic, the_prefix_is_put_before_every_key) {
    auto settings = settings_for(server_.url());
    settings.prefix = "app:";
    client prefixed(settings);
    const auto held = mutex(prefixed, "k").acquire();
    EXPECT_TRUE(server_.exists("app:k"));
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_TRUE(mutex(client_, "k").try_acquire());
}

TEST_F(lock_basic, keys_are_shown_without_the_prefix_and_can_be_given_back) {
    client prefixed({.urls = {server_.url()}, .prefix = "app:"});
    mutex one(prefixed, "k");
    auto held = one.acquire();
    EXPECT_EQ(one.key(), "k");
    EXPECT_EQ(held.key(), "k");
    EXPECT_TRUE(held.verify());
    EXPECT_EQ(inspect(prefixed, "k").key, "k");
    std::vector<std::string> listed;
    list(prefixed, "k*", [&](const lock_status& each) { listed.push_back(each.key); });
    ASSERT_EQ(listed, std::vector<std::string>{"k"});
    EXPECT_EQ(inspect(prefixed, listed[0]).held_by->owner, held.owner());
    EXPECT_EQ(force_unlock(prefixed, listed[0], held.owner(), "a test"), release_result::released);
    EXPECT_FALSE(held.verify());
    const auto lost = error_of([&] { held.ensure_held(); });
    EXPECT_EQ(lost.code, errc::lost);
    EXPECT_TRUE(contains(lost.what, "'k'")) << lost.what;
}

// Half of the threads keep their locks and so ask for nothing more: nobody is left to send what was
// released while they were being told.
TEST_F(lock_basic, a_release_that_is_not_awaited_is_sent_although_nobody_waits_any_more) {
    constexpr int callers = 4;
    constexpr int rounds = 300;
    std::barrier step(callers + 1);
    std::vector<std::jthread> threads;
    for (int n = 0; n < callers; ++n) {
        threads.emplace_back([&, n] {
            acquire_options how;
            how.await_release = false;
            mutex one(client_, "k" + std::to_string(n), how);
            for (int round = 0; round < rounds; ++round) {
                step.arrive_and_wait();
                one.lock();
                if (n % 2 == 1) one.unlock();
                step.arrive_and_wait();
                step.arrive_and_wait();
                if (n % 2 == 0) one.unlock();
            }
        });
    }
    int late = 0;
    for (int round = 0; round < rounds; ++round) {
        step.arrive_and_wait();
        step.arrive_and_wait();
        const auto gone = [&] { return !server_.exists("k1") && !server_.exists("k3"); };
        if (!eventually(300ms * slowness, gone)) ++late;
        step.arrive_and_wait();
    }
    EXPECT_EQ(late, 0) << "of " << rounds;
}

TEST_F(lock_basic, a_release_that_is_not_awaited_arrives_all_the_same) {
    acquire_options how = with_ttl(30s);
    how.await_release = false;
    mutex one(client_, "k", how);
    for (int round = 0; round < 20; ++round) {
        one.lock();
        one.unlock();
    }
    EXPECT_TRUE(eventually(promptly, [&] { return !server_.exists("k"); }));
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().released == 20; }));
}

TEST_F(lock_basic, construction_connects_to_nothing_and_connect_does) {
    EXPECT_EQ(client_.statistics().connected, 0U);
    client_.connect();
    EXPECT_EQ(client_.statistics().connected, 1U);
    std::error_code error;
    client_.connect(error);
    EXPECT_FALSE(error);
    EXPECT_EQ(client_.statistics().connected, 1U);
}

TEST_F(lock_basic, a_moved_client_goes_on) {
    mutex one(client_, "k");
    one.lock();
    client moved(std::move(client_));
    EXPECT_FALSE(one.current()->lost());
    one.unlock();
    client_ = std::move(moved);
    EXPECT_TRUE(mutex(client_, "k").try_acquire());
}

}  // namespace
}  // namespace holdfast::test
