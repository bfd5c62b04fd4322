#include <algorithm>
#include <atomic>
#include <boost/asio/use_future.hpp>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "holdfast/asio.hpp"
#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "integration/quorum.hpp"
#include "support/lock_process.hpp"

/// As many holders as there are permits, on one real server.
namespace holdfast::test {
namespace {

constexpr auto permit_queue = "holdfast:{k}:queue";

class semaphores : public testing::Test {
  protected:
    [[nodiscard]] std::size_t length() const {
        return std::stoul(server_.command({"LLEN", permit_queue}));
    }

    redis_server server_;
    client client_{server_.url()};
    client other_{server_.url()};
    semaphore here_{client_, "k", 2};
    semaphore there_{other_, "k", 2};
};

TEST_F(semaphores, give_as_many_permits_as_there_are_each_with_its_number) {
    const auto one = here_.acquire();
    auto two = there_.acquire();
    EXPECT_EQ(one.slot(), 0U);
    EXPECT_EQ(two.slot(), 1U);
    const auto denied = here_.try_acquire();
    EXPECT_FALSE(denied);
    ASSERT_TRUE(denied.held_by());
    EXPECT_EQ(denied.held_by()->owner, one.owner()) << "whose lease ends first";
    EXPECT_TRUE(one.verify());
    EXPECT_EQ(two.release(), release_result::released);
    EXPECT_FALSE(two.verify());
    const auto three = here_.try_acquire();
    ASSERT_TRUE(three);
    EXPECT_EQ(three->slot(), 1U);
}

TEST_F(semaphores, give_the_lowest_number_that_is_free) {
    semaphore five(client_, "five", 5);
    std::vector<lease> held;
    for (std::uint32_t n = 0; n < 5; ++n) {
        held.push_back(five.acquire());
        EXPECT_EQ(held.back().slot(), n);
    }
    held[3].release();
    held[1].release();
    EXPECT_EQ(five.acquire().slot(), 1U);
    EXPECT_EQ(five.acquire().slot(), 1U);
}

TEST_F(semaphores, tokens_rise_for_those_who_have_one_slot_after_the_other) {
    std::map<std::uint32_t, std::uint64_t> last;
    for (int round = 0; round < 10; ++round) {
        const auto one = here_.acquire();
        const auto two = there_.acquire();
        for (const auto* each : {&one, &two}) {
            EXPECT_GT(each->token(), last[each->slot()]);
            last[each->slot()] = each->token();
        }
    }
    EXPECT_EQ(last.size(), 2U);
}

TEST_F(semaphores, permits_of_the_dead_come_back) {
    constexpr auto ttl = 500ms * slowness;
    const auto one = here_.acquire({.ttl = ttl, .renew = false});
    const auto two = here_.acquire({.ttl = 30s});
    const stopwatch watch;
    const auto next = there_.try_acquire_for(surely);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->slot(), 0U);
    EXPECT_LT(watch.elapsed(), ttl + 1s + promptly);
    EXPECT_TRUE(two.verify());
    EXPECT_FALSE(one.verify());
}

TEST_F(semaphores, leases_are_renewed_and_a_loss_is_announced) {
    constexpr auto ttl = 600ms * slowness;
    const auto held = here_.acquire({.ttl = ttl});
    const auto too = there_.acquire({.ttl = ttl});
    const auto stop = held.stop_token();
    std::this_thread::sleep_for(3 * ttl);  // what is tested is that time passes
    EXPECT_TRUE(held.verify());
    EXPECT_FALSE(stop.stop_requested());
    EXPECT_EQ(unlock(other_, "k", held.owner()), release_result::released);
    EXPECT_TRUE(eventually(surely, [&] { return stop.stop_requested(); }));
    EXPECT_TRUE(held.lost());
    EXPECT_TRUE(too.verify());
}

TEST_F(semaphores, who_waits_stands_in_line_and_is_called) {
    auto one = here_.acquire();
    auto two = here_.acquire();
    std::vector<std::unique_ptr<client>> clients;
    std::vector<std::future<lease>> waiting;
    for (std::size_t n = 0; n < 3; ++n) {
        clients.push_back(std::make_unique<client>(server_.url()));
        waiting.push_back(std::async(std::launch::async,
                                     [&, n] { return semaphore(*clients[n], "k", 2).acquire(); }));
        ASSERT_TRUE(eventually(surely, [&] { return length() == n + 1; }));
    }
    EXPECT_FALSE(there_.try_acquire()) << "others stand in line";
    const stopwatch watch;
    two.release();
    auto first = waiting[0].get();
    EXPECT_LT(watch.elapsed(), promptly);
    EXPECT_EQ(first.slot(), 1U);
    EXPECT_EQ(length(), 2U);
    one.release();
    first.release();
    auto second = waiting[1].get();
    auto third = waiting[2].get();
    EXPECT_NE(second.slot(), third.slot());
    EXPECT_FALSE(server_.exists(permit_queue));
}

TEST_F(semaphores, threads_of_one_client_have_no_more_than_there_are_and_never_the_same_slot) {
    std::atomic<int> inside = 0;
    std::atomic<int> most = 0;
    std::mutex guard;
    std::set<std::uint32_t> taken;
    {
        std::vector<std::jthread> threads;
        for (int n = 0; n < 8; ++n) {
            threads.emplace_back([&] {
                for (int round = 0; round < 20; ++round) {
                    const auto held = here_.acquire();
                    const auto now = ++inside;
                    auto seen = most.load();
                    while (now > seen && !most.compare_exchange_weak(seen, now)) {
                    }
                    {
                        const std::scoped_lock lock(guard);
                        EXPECT_TRUE(taken.insert(held.slot()).second);
                    }
                    std::this_thread::yield();
                    const std::scoped_lock lock(guard);
                    taken.erase(held.slot());
                    --inside;
                }
            });
        }
    }
    EXPECT_LE(most, 2);
}

TEST_F(semaphores, are_lockable_and_timed_and_cancelled_and_asynchronous) {
    {
        const std::scoped_lock held(here_);
        ASSERT_NE(here_.current(), nullptr);
        EXPECT_EQ(here_.current()->slot(), 0U);
    }
    const auto one = here_.acquire();
    auto two = here_.async_acquire(boost::asio::use_future).get();
    ASSERT_TRUE(two);
    EXPECT_FALSE(there_.try_lock_for(30ms));
    std::stop_source stop;
    auto waits = std::async(std::launch::async, [&] {
        return error_of([&] { (void)there_.acquire(stop.get_token()); }).code;
    });
    ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
    stop.request_stop();
    EXPECT_EQ(waits.get(), errc::cancelled);
    EXPECT_TRUE(eventually(promptly, [&] { return length() == 0; }));
}

TEST_F(semaphores, agree_on_the_limit_and_refuse_another) {
    const auto held = here_.acquire();
    semaphore three(other_, "k", 3);
    const auto error = error_of([&] { (void)three.acquire(); });
    EXPECT_EQ(error.code, errc::other_limit);
    EXPECT_TRUE(contains(error.what, "has 2 permits, not 3")) << error.what;
    EXPECT_TRUE(held.verify());
    EXPECT_EQ(set_limit(other_, "k", 3), 2U);
    const auto more = three.try_acquire();
    ASSERT_TRUE(more);
    EXPECT_EQ(error_of([&] { (void)there_.try_acquire(); }).code, errc::other_limit);
    EXPECT_TRUE(held.verify()) << "who holds goes on";
}

TEST_F(semaphores, with_a_lower_limit_give_no_slot_beyond_it) {
    auto one = here_.acquire();
    auto two = here_.acquire();
    EXPECT_EQ(set_limit(client_, "k", 1), 2U);
    semaphore single(other_, "k", 1);
    EXPECT_FALSE(single.try_acquire());
    two.release();
    EXPECT_FALSE(single.try_acquire()) << "slot 1 is beyond the limit";
    one.release();
    const auto last = single.try_acquire();
    ASSERT_TRUE(last);
    EXPECT_EQ(last->slot(), 0U);
    EXPECT_EQ(set_limit(client_, "k", 2), 1U);
    EXPECT_EQ(here_.acquire().slot(), 1U);
}

TEST_F(semaphores, a_higher_limit_lets_those_in_who_wait) {
    const auto one = here_.acquire();
    const auto two = here_.acquire();
    auto waits = std::async(std::launch::async, [&] { return there_.acquire(); });
    ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
    EXPECT_EQ(set_limit(client_, "k", 3), 2U);
    // It was granted the third, and asks for it with the limit that it knows.
    EXPECT_EQ(error_of([&] { (void)waits.get(); }).code, errc::other_limit);
}

TEST_F(semaphores, are_refused_on_a_quorum_with_the_reason) {
    quorum servers(3);
    client through(servers.settings());
    const auto error = error_of([&] { semaphore(through, "k", 2); });
    EXPECT_EQ(error.code, errc::invalid_option);
    EXPECT_TRUE(contains(error.what, "more holders than there are permits")) << error.what;
}

TEST_F(semaphores, have_one_permit_or_more_and_not_too_many) {
    EXPECT_EQ(error_of([&] { semaphore(client_, "k", 0); }).code, errc::invalid_option);
    EXPECT_EQ(error_of([&] { semaphore(client_, "k", max_permits + 1); }).code,
              errc::invalid_option);
    EXPECT_EQ(error_of([&] { (void)set_limit(client_, "k", 0); }).code, errc::invalid_option);
}

TEST_F(semaphores, where_a_lock_is_are_an_error_and_change_nothing) {
    const auto held = mutex(client_, "k").acquire();
    EXPECT_EQ(error_of([&] { (void)there_.try_acquire(); }).code, errc::wrong_type);
    EXPECT_EQ(error_of([&] { (void)set_limit(other_, "k", 2); }).code, errc::wrong_type);
    EXPECT_TRUE(held.verify());
    server_.command({"HSET", "k2", "mine", "1"});
    EXPECT_EQ(error_of([&] { (void)semaphore(client_, "k2", 2).try_acquire(); }).code,
              errc::wrong_type);
    EXPECT_EQ(server_.command({"HLEN", "k2"}), "1");
    server_.command({"SET", "holdfast:{k3}:permits", "mine"});
    EXPECT_EQ(error_of([&] { (void)semaphore(client_, "k3", 2).try_acquire(); }).code,
              errc::wrong_type);
    EXPECT_FALSE(server_.exists("k3"));
}

TEST_F(semaphores, are_an_error_where_a_lock_is_wanted_and_stay_as_they_are) {
    const auto held = here_.acquire();
    EXPECT_EQ(error_of([&] { (void)mutex(other_, "k").try_acquire(); }).code, errc::wrong_type);
    EXPECT_EQ(error_of([&] { (void)shared_mutex(other_, "k").try_acquire_shared(); }).code,
              errc::wrong_type);
    EXPECT_TRUE(server_.query({"SET", "k", "x", "NX"}).is_nil()) << "other libraries";
    EXPECT_TRUE(held.verify());
}

TEST_F(semaphores, inspect_and_list_tell_who_has_which_slot) {
    const auto one = here_.acquire({.label = "first"});
    auto found = inspect(client_, "k");
    EXPECT_EQ(found.limit, 2U);
    ASSERT_TRUE(found.permits);
    ASSERT_EQ(found.permits->size(), 1U);
    EXPECT_EQ(found.permits->at(0).who.label, "first");
    EXPECT_GT(found.permits->at(0).who.remaining.value_or(0ms), 20s);
    EXPECT_EQ(found.token, one.token());
    const auto two = there_.acquire({.label = "second"});
    std::size_t seen = 0;
    const auto look = [&](const lock_status& each) {
        ++seen;
        EXPECT_EQ(each.key, "k");
        ASSERT_TRUE(each.permits);
        ASSERT_EQ(each.permits->size(), 2U);
        EXPECT_EQ(each.permits->at(1).slot, 1U);
        EXPECT_EQ(each.permits->at(1).who.label, "second");
    };
    list(client_, "k*", look);
    list(client_, "other*", look);
    EXPECT_EQ(seen, 1U);
    list_everywhere(client_, look);
    EXPECT_EQ(seen, 2U);
}

TEST_F(semaphores, one_permit_is_renewed_left_behind_released_and_taken_away_by_its_owner) {
    auto one = here_.acquire({.ttl = 5s, .renew = false});
    const auto two = there_.acquire({.ttl = 5s, .renew = false});
    const auto left = [&] { return *inspect(client_, "k").permits->at(0).who.remaining; };
    EXPECT_TRUE(renew(client_, "k", one.owner(), 40s));
    EXPECT_GT(left(), 35s);
    EXPECT_TRUE(linger(client_, "k", one.owner(), 20s));
    EXPECT_LE(left(), 20s);
    EXPECT_EQ(unlock(client_, "k", one.owner()), release_result::released);
    EXPECT_EQ(one.release(), release_result::already_lost);
    EXPECT_EQ(force_unlock(client_, "k", two.owner(), "test"), release_result::released);
    EXPECT_FALSE(two.verify());
}

TEST_F(semaphores, leave_nothing_for_ever) {
    auto settings = settings_for(server_.url());
    settings.max_ttl = 2s;
    settings.fence_retention = 2s;
    client brief(settings);
    semaphore(brief, "k", 2, with_ttl(1s)).acquire().release();
    EXPECT_LE(server_.pttl("k"), 2'000);
    EXPECT_GT(server_.pttl("k"), 0);
    EXPECT_TRUE(eventually(surely, [&] { return !server_.exists("k"); }));
    EXPECT_FALSE(server_.exists("holdfast:{k}:permits"));
    EXPECT_TRUE(semaphore(client_, "k", 7).try_acquire()) << "nothing is agreed on any more";
}

}  // namespace
}  // namespace holdfast::test
