#include <atomic>
#include <boost/asio/use_future.hpp>
#include <deque>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "holdfast/asio.hpp"
#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "support/lock_process.hpp"
#include "support/shifted_clock.hpp"

/// Who waits for a permit, and what becomes of permits when holders, waiters, servers and clocks
/// fail.
namespace holdfast::test {
namespace {

constexpr auto permit_queue = "holdfast:{k}:queue";

class semaphore_line : public testing::Test {
  protected:
    [[nodiscard]] std::size_t length() const {
        return std::stoul(server_.command({"LLEN", permit_queue}));
    }

    /// Somebody who waits, with a client of its own; it stands in line when this returns.
    std::future<lease>& wait_for_one(std::uint32_t limit = 2) {
        const auto before = length();
        auto& own = *clients_.emplace_back(std::make_unique<client>(server_.url()));
        waiting_.push_back(std::async(
            std::launch::async, [&own, limit] { return semaphore(own, "k", limit).acquire(); }));
        EXPECT_TRUE(eventually(surely, [&] { return length() == before + 1; }));
        return waiting_.back();
    }

    static bool has_it(std::future<lease>& who, milliseconds within) {
        return who.wait_for(within) == std::future_status::ready;
    }

    redis_server server_;
    client client_{server_.url()};
    client other_{server_.url()};
    semaphore here_{client_, "k", 2};
    semaphore there_{other_, "k", 2};
    std::vector<std::unique_ptr<client>> clients_;
    std::deque<std::future<lease>> waiting_;
};

TEST_F(semaphore_line, is_served_in_the_order_of_arrival_and_called) {
    std::vector<lease> held;
    held.push_back(here_.acquire());
    held.push_back(here_.acquire());
    for (int n = 0; n < 4; ++n) wait_for_one();
    EXPECT_FALSE(there_.try_acquire()) << "others stand in line";
    const auto line = inspect(client_, "k").waiters;
    ASSERT_TRUE(line);
    EXPECT_EQ(line->size(), 4U);
    for (std::size_t n = 0; n < waiting_.size(); ++n) {
        const auto slot = held[n].slot();
        const stopwatch watch;
        held[n].release();
        ASSERT_TRUE(has_it(waiting_[n], surely));
        EXPECT_LT(watch.elapsed(), promptly) << "it looks once a second";
        for (auto later = n + 1; later < waiting_.size(); ++later) {
            EXPECT_FALSE(has_it(waiting_[later], 0ms)) << later << " before " << n;
        }
        held.push_back(waiting_[n].get());
        EXPECT_EQ(held.back().slot(), slot);
        EXPECT_GT(held.back().token(), held[n].token());
    }
    EXPECT_FALSE(server_.exists(permit_queue));
}

TEST_F(semaphore_line, several_permits_that_are_over_at_once_go_to_several) {
    constexpr auto ttl = 1500ms * slowness;
    const auto one = here_.acquire({.ttl = ttl, .renew = false});
    const auto two = here_.acquire({.ttl = ttl, .renew = false});
    const stopwatch watch;
    for (int n = 0; n < 3; ++n) wait_for_one();
    ASSERT_TRUE(has_it(waiting_[0], surely));
    ASSERT_TRUE(has_it(waiting_[1], promptly));
    EXPECT_LT(watch.elapsed(), ttl + promptly);
    EXPECT_FALSE(has_it(waiting_[2], 0ms));
    auto first = waiting_[0].get();
    const auto second = waiting_[1].get();
    EXPECT_NE(first.slot(), second.slot());
    first.release();
    EXPECT_TRUE(has_it(waiting_[2], promptly));
}

TEST_F(semaphore_line, who_comes_while_others_stand_in_it_is_denied_although_a_permit_is_free) {
    const auto held = here_.acquire();
    server_.command({"RPUSH", permit_queue, "- 0 hs1:somebody"});
    EXPECT_FALSE(there_.try_acquire()) << "it was given to who came first";
    EXPECT_EQ(length(), 0U);
    EXPECT_EQ(inspect(client_, "k").taken, 2U);
    EXPECT_EQ(inspect(client_, "k").permits->size(), 1U) << "whose name says nothing";
    const stopwatch watch;
    EXPECT_TRUE(there_.try_acquire_for(surely)) << "nobody claims it";
    EXPECT_LT(watch.elapsed(), 3s + promptly);
}

TEST_F(semaphore_line, another_limit_is_told_at_once_to_who_waits_with_the_old) {
    const auto one = here_.acquire();
    const auto two = here_.acquire();
    wait_for_one();
    wait_for_one();
    const stopwatch watch;
    EXPECT_EQ(set_limit(client_, "k", 3), 2U);
    for (auto& each : waiting_) {
        ASSERT_TRUE(has_it(each, surely));
        EXPECT_EQ(error_of([&] { (void)each.get(); }).code, errc::other_limit);
    }
    EXPECT_LT(watch.elapsed(), promptly);
    const auto three = semaphore(other_, "k", 3).try_acquire();
    ASSERT_TRUE(three) << "nobody stands in line any more";
    EXPECT_EQ(three->slot(), 2U);
}

TEST_F(semaphore_line, threads_of_one_client_have_no_more_than_there_are_and_never_the_same_slot) {
    std::mutex guard;
    std::set<std::uint32_t> taken;
    std::size_t most = 0;
    {
        std::vector<std::jthread> threads;
        for (int n = 0; n < 8; ++n) {
            threads.emplace_back([&, n] {
                for (int round = 0; round < 20; ++round) {
                    const auto held = (n % 2 == 0 ? here_ : there_).acquire();
                    {
                        const std::scoped_lock lock(guard);
                        EXPECT_TRUE(taken.insert(held.slot()).second);
                        most = std::max(most, taken.size());
                    }
                    std::this_thread::yield();
                    const std::scoped_lock lock(guard);
                    taken.erase(held.slot());
                }
            });
        }
    }
    EXPECT_EQ(most, 2U);
    EXPECT_EQ(inspect(client_, "k").taken, 0U);
}

TEST_F(semaphore_line, is_lockable_and_timed_and_cancelled_and_asynchronous) {
    {
        const std::scoped_lock held(here_);
        ASSERT_NE(here_.current(), nullptr);
        EXPECT_EQ(here_.current()->slot(), 0U);
    }
    const auto one = here_.acquire();
    auto two = here_.async_acquire(boost::asio::use_future).get();
    ASSERT_TRUE(two);
    EXPECT_EQ(two->slot(), 1U);
    EXPECT_FALSE(there_.try_lock_for(30ms));
    EXPECT_FALSE(there_.try_lock());
    EXPECT_EQ(length(), 0U);
    std::stop_source stop;
    auto waits = std::async(std::launch::async, [&] {
        return error_of([&] { (void)there_.acquire(stop.get_token()); }).code;
    });
    ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
    stop.request_stop();
    EXPECT_EQ(waits.get(), errc::cancelled);
    EXPECT_TRUE(eventually(promptly, [&] { return length() == 0; }));
    auto later = there_.async_acquire(boost::asio::use_future);
    ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
    two->release();
    EXPECT_EQ(later.get().value().slot(), 1U);
}

TEST_F(semaphore_line, who_leaves_it_passes_on_what_it_was_granted_meanwhile) {
    const auto one = here_.acquire();
    auto two = here_.acquire();
    {
        lock_process stopped(server_.url());
        stopped.tell("permit k 30000 2");
        ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
        stopped.child().kill(SIGSTOP);
        wait_for_one();
        two.release();
        EXPECT_FALSE(has_it(waiting_[0], 500ms)) << "it was granted to who stands still";
        ASSERT_TRUE(has_it(waiting_[0], surely)) << "two seconds are enough";
        EXPECT_EQ(waiting_[0].get().slot(), 1U);
        stopped.child().kill(SIGCONT);
        EXPECT_TRUE(contains(stopped.listen(), "held")) << "its turn came again";
    }
}

TEST_F(semaphore_line, the_permit_of_a_process_that_died_comes_back) {
    constexpr auto ttl = 1000ms * slowness;
    lock_process first(server_.url());
    lock_process second(server_.url());
    const auto said = first.expect("permit k " + std::to_string(ttl.count()) + " 2", "held");
    EXPECT_TRUE(said.ends_with(" 0")) << said;
    EXPECT_TRUE(second.expect("permit k 30000 2", "held").ends_with(" 1"));
    wait_for_one();
    const stopwatch watch;
    first.child().kill(SIGKILL);
    ASSERT_TRUE(has_it(waiting_[0], surely));
    EXPECT_LT(watch.elapsed(), ttl + promptly);
    const auto next = waiting_[0].get();
    EXPECT_EQ(next.slot(), 0U);
    EXPECT_EQ(second.ask("state"), "held going");
    EXPECT_EQ(second.ask("release"), "released");
}

TEST_F(semaphore_line, the_dead_in_it_are_passed_over) {
    const auto one = here_.acquire();
    auto two = here_.acquire();
    lock_process dies(server_.url());
    dies.tell("permit k 30000 2");
    ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
    wait_for_one();
    dies.child().kill(SIGKILL);
    const auto gone = [&] {
        return server_.command({"PUBSUB", "CHANNELS", "holdfast:client:*"}) !=
               server_.command({"LRANGE", permit_queue, "0", "0"});
    };
    ASSERT_TRUE(eventually(surely, gone));
    std::this_thread::sleep_for(100ms);  // the server learns of the end of a connection by itself
    const stopwatch watch;
    two.release();
    ASSERT_TRUE(has_it(waiting_[0], surely));
    EXPECT_LT(watch.elapsed(), promptly);
}

TEST_F(semaphore_line, a_server_that_forgets_takes_all_permits_with_it) {
    const auto one = here_.acquire({.ttl = 900ms * slowness});
    const auto stop = one.stop_token();
    auto two = there_.acquire();
    server_.command({"FLUSHALL"});
    EXPECT_TRUE(eventually(surely, [&] { return stop.stop_requested(); }));
    EXPECT_TRUE(one.lost());
    EXPECT_EQ(two.release(), release_result::already_lost);
    EXPECT_EQ(semaphore(other_, "k", 7).acquire().slot(), 0U) << "nothing is agreed on";
}

TEST_F(semaphore_line, with_the_restart_guard_waits_until_forgotten_permits_are_over) {
    auto settings = settings_for(server_.url());
    settings.restart_guard = true;
    settings.max_ttl = 2s;
    client guarded(settings);
    (void)enlist(guarded, true);
    semaphore held(guarded, "k", 1, with_ttl(2s));
    const auto one = held.acquire();
    server_.restart(data::lost);
    client next(settings);
    const auto denied = semaphore(next, "k", 1, with_ttl(2s)).try_acquire();
    ASSERT_FALSE(denied);
    EXPECT_TRUE(denied.held_by() && denied.held_by()->quarantine);
    EXPECT_TRUE(semaphore(next, "k", 1, with_ttl(2s)).try_acquire_for(surely));
    EXPECT_TRUE(one.lost());
}

TEST_F(semaphore_line, a_server_that_restarts_with_its_data_knows_who_has_which_permit) {
    const auto one = here_.acquire();
    auto two = there_.acquire();
    server_.restart(data::kept);
    EXPECT_TRUE(
        eventually(surely, [&] { return error_of([&] { (void)one.verify(); }).what == ""; }));
    EXPECT_TRUE(one.verify());
    EXPECT_FALSE(here_.try_acquire());
    EXPECT_EQ(two.release(), release_result::released);
    EXPECT_EQ(here_.acquire().slot(), 1U);
}

TEST_F(semaphore_line, a_clock_that_jumps_back_leaves_permits_and_one_that_jumps_on_ends_them) {
    if (!shifted_clock::available()) GTEST_SKIP() << "no library to shift clocks";
    shifted_clock clock;
    redis_server server{{.environment = clock.environment()}};
    client through(server.url());
    semaphore one(through, "k", 1);
    auto held = one.acquire({.ttl = 900ms * slowness});
    clock.jump(-1h);
    std::this_thread::sleep_for(2 * 900ms * slowness);  // renewals go on
    EXPECT_TRUE(held.verify());
    EXPECT_FALSE(one.try_acquire());
    EXPECT_EQ(held.release(), release_result::released);
    const auto again = one.acquire();
    EXPECT_GT(again.token(), held.token()) << "whatever the time";
    const auto left = *inspect(through, "k").permits->at(0).who.remaining;
    EXPECT_LE(left, 30'010ms) << "of the clock as it is now";
    clock.jump(1h);
    // As a key would have ended. Later servers look at the clock now and then.
    EXPECT_TRUE(eventually(surely, [&] { return !again.verify(); }));
    EXPECT_EQ(one.acquire().slot(), 0U);
}

}  // namespace
}  // namespace holdfast::test
