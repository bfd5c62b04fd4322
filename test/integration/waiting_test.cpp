#include <atomic>
#include <future>
#include <thread>

#include "holdfast/operate.hpp"
#include "integration/client_list.hpp"
#include "integration/library.hpp"
#include "support/lock_process.hpp"

/// How soon a waiter gets what has become free. The leases waited for live for 30 seconds, and the
/// net under a waiter that is told nothing is five: what comes within `promptly` was told.
namespace holdfast::test {
namespace {

class waiting : public testing::Test {
  protected:
    /// Waits for `key` in another thread, until the server has said no once.
    std::future<clock::time_point> begin_to_wait(client& through, const std::string& key) {
        const auto before = through.statistics().denied;
        auto result = std::async(std::launch::async, [&through, key] {
            const auto held = mutex(through, key).acquire();
            return clock::now();
        });
        EXPECT_TRUE(eventually(surely, [&] { return through.statistics().denied > before; }));
        return result;
    }

    static milliseconds since(clock::time_point then, clock::time_point now) {
        return std::chrono::duration_cast<milliseconds>(now - then);
    }

    static options named(std::string url, std::string name) {
        auto settings = settings_for(std::move(url));
        settings.client_name = std::move(name);
        return settings;
    }

    redis_server server_;
    client client_{named(server_.url(), "waiter")};
    client other_{server_.url()};
};

TEST_F(waiting, gets_the_lock_at_once_when_another_process_releases_it) {
    lock_process holder(server_.url());
    holder.expect("acquire k 30000", "held");
    auto waiter = begin_to_wait(client_, "k");
    const auto released = clock::now();
    holder.expect("release", "released");
    const auto delay = since(released, waiter.get());
    record("after_release", delay);
    EXPECT_LT(delay, promptly);
}

TEST_F(waiting, gets_the_lock_at_once_when_somebody_deletes_the_key) {
    const auto theirs = mutex(other_, "k").acquire();
    auto waiter = begin_to_wait(client_, "k");
    const auto deleted = clock::now();
    server_.command({"DEL", "k"});
    const auto delay = since(deleted, waiter.get());
    record("after_delete", delay);
    EXPECT_LT(delay, promptly);
}

TEST_F(waiting, gets_the_lock_at_once_when_everything_is_flushed) {
    const auto theirs = mutex(other_, "k").acquire();
    auto waiter = begin_to_wait(client_, "k");
    const auto flushed = clock::now();
    server_.command({"FLUSHALL"});
    EXPECT_LT(since(flushed, waiter.get()), promptly);
}

TEST_F(waiting, gets_the_lock_at_once_when_it_expires) {
    server_.command({"SET", "k", "somebody", "PX", "600"});
    const auto set = clock::now();
    auto waiter = begin_to_wait(client_, "k");
    const auto delay = since(set, waiter.get()) - 600ms;
    record("after_expiry", delay);
    EXPECT_GT(delay, -50ms);
    EXPECT_LT(delay, promptly);
}

TEST_F(waiting, gets_the_lock_of_a_process_that_was_killed_when_its_lease_is_over) {
    lock_process holder(server_.url());
    holder.expect("acquire k 800", "held");
    holder.child().kill(SIGKILL);
    const auto killed = clock::now();
    auto waiter = begin_to_wait(client_, "k");
    const auto delay = since(killed, waiter.get());
    EXPECT_LE(delay, 800ms + promptly);
}

TEST_F(waiting, is_told_of_a_key_without_expiry_too) {
    server_.command({"SET", "k", "for ever"});
    auto waiter = begin_to_wait(client_, "k");
    EXPECT_EQ(waiter.wait_for(50ms), std::future_status::timeout);
    const auto deleted = clock::now();
    server_.command({"DEL", "k"});
    EXPECT_LT(since(deleted, waiter.get()), promptly);
}

TEST_F(waiting, without_fencing_is_told_too) {
    acquire_options unfenced;
    unfenced.fencing = false;
    auto theirs = mutex(other_, "k").acquire();
    auto waiter = std::async(std::launch::async, [&] {
        const auto held = mutex(client_, "k", unfenced).acquire();
        return clock::now();
    });
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().denied > 0; }));
    const auto released = clock::now();
    theirs.release();
    EXPECT_LT(since(released, waiter.get()), promptly);
}

TEST_F(waiting, does_not_poll_a_server_that_tells) {
    const auto theirs = mutex(other_, "k", with_ttl(60s)).acquire();
    auto waiter = begin_to_wait(client_, "k");
    const auto commands = [&] {
        const auto stats = server_.command({"INFO", "stats"});
        const auto at = stats.find("total_commands_processed:");
        return std::stoll(stats.substr(at + 25));
    };
    const auto before = commands();
    EXPECT_EQ(waiter.wait_for(300ms), std::future_status::timeout);
    EXPECT_LE(commands() - before, 6);  // those of this test itself: AUTH and INFO
    server_.command({"DEL", "k"});
    waiter.get();
}

TEST_F(waiting, a_hundred_local_waiters_cost_the_server_one_contender) {
    auto theirs = mutex(other_, "k").acquire();
    std::vector<std::thread> waiters;
    std::atomic<int> got = 0;
    for (int n = 0; n < 100; ++n) {
        waiters.emplace_back([&] {
            const auto held = mutex(client_, "k").acquire();
            ++got;
        });
    }
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().denied > 0; }));
    const auto before = client_.statistics().denied;
    EXPECT_EQ(got, 0);
    theirs.release();
    for (auto& waiter : waiters) waiter.join();
    EXPECT_EQ(got, 100);
    EXPECT_LE(client_.statistics().denied, before + 3);
}

TEST_F(waiting, local_waiters_are_served_first_come_first_served) {
    auto mine = mutex(client_, "k").acquire();
    std::vector<int> order;  // guarded by the lock under test
    std::vector<std::thread> waiters;
    std::atomic<int> standing = 0;
    for (int n = 0; n < 5; ++n) {
        waiters.emplace_back([&, n] {
            ++standing;
            const auto held = mutex(client_, "k").acquire();
            order.push_back(n);
        });
        EXPECT_TRUE(eventually(surely, [&] { return standing == n + 1; }));
        std::this_thread::sleep_for(20ms * slowness);  // from counting to standing in line
    }
    mine.release();
    for (auto& waiter : waiters) waiter.join();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(waiting, several_processes_hand_the_lock_around_quickly) {
    constexpr int rounds = 20;
    lock_process ping(server_.url());
    const stopwatch watch;
    for (int n = 0; n < rounds; ++n) {
        auto mine = mutex(client_, "k").acquire();
        ping.tell("acquire k 30000");
        EXPECT_TRUE(eventually(surely, [&] { return !server_.get("k").value_or("").empty(); }));
        mine.release();
        EXPECT_TRUE(ping.listen().starts_with("held"));
        ping.expect("release", "released");
    }
    record("hand_over_round", watch.elapsed() / rounds);
    EXPECT_LT(watch.elapsed(), rounds * promptly);
}

TEST_F(waiting, goes_on_when_the_connection_is_lost_meanwhile) {
    auto theirs = mutex(other_, "k").acquire();
    auto waiter = begin_to_wait(client_, "k");
    ASSERT_EQ(kill_connections(server_, "waiter"), 1U);
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().connected == 2; }));
    const auto released = clock::now();
    theirs.release();
    EXPECT_LT(since(released, waiter.get()), promptly);
}

TEST_F(waiting, goes_on_when_the_connection_of_the_holder_is_lost_before_its_release) {
    auto theirs = mutex(other_, "k").acquire();
    auto waiter = begin_to_wait(client_, "k");
    ASSERT_EQ(kill_connections(server_, "holdfast"), 1U);
    const auto released = clock::now();
    EXPECT_EQ(theirs.release(), release_result::released);
    EXPECT_LT(since(released, waiter.get()), promptly);
}

TEST_F(waiting, is_not_held_up_by_a_server_that_forgot_the_scripts) {
    auto mine = mutex(client_, "k").acquire();
    auto waiter = std::async(std::launch::async, [&] {
        const auto held = mutex(client_, "k").acquire();
        return clock::now();
    });
    EXPECT_EQ(waiter.wait_for(50ms), std::future_status::timeout);
    server_.command({"SCRIPT", "FLUSH"});
    const auto released = clock::now();
    EXPECT_EQ(mine.release(), release_result::released);
    EXPECT_LT(since(released, waiter.get()), promptly);
}

TEST_F(waiting, ends_when_the_same_client_removes_the_lock_by_its_token) {
    const auto theirs = mutex(other_, "k").acquire();
    auto waiter = begin_to_wait(client_, "k");
    EXPECT_EQ(waiter.wait_for(50ms), std::future_status::timeout);
    const auto removed = clock::now();
    EXPECT_EQ(unlock(client_, "k", theirs.owner()), release_result::released);
    EXPECT_LT(since(removed, waiter.get()), promptly);
}

TEST_F(waiting, several_keys_at_once_do_not_confuse_each_other) {
    auto first = mutex(other_, "a").acquire();
    auto second = mutex(other_, "b").acquire();
    auto for_first = begin_to_wait(client_, "a");
    auto for_second = begin_to_wait(client_, "b");
    second.release();
    for_second.get();
    EXPECT_EQ(for_first.wait_for(50ms), std::future_status::timeout);
    first.release();
    for_first.get();
}

TEST_F(waiting, for_a_server_that_is_gone_takes_all_threads_of_a_process_no_longer_than_one) {
    constexpr auto patience = 500ms * slowness;
    auto settings = settings_for(server_.url());
    settings.patience = patience;
    client impatient(settings);
    server_.stop();
    const auto began = clock::now();
    std::vector<std::future<milliseconds>> waiters;
    for (int n = 0; n < 4; ++n) {
        waiters.push_back(std::async(std::launch::async, [&] {
            EXPECT_EQ(error_of([&] { (void)mutex(impatient, "k").acquire(); }).code,
                      errc::unreachable);
            return since(began, clock::now());
        }));
    }
    for (auto& each : waiters) {
        const auto took = each.get();
        EXPECT_GE(took, patience);
        EXPECT_LT(took, 2 * patience);
    }
}

}  // namespace
}  // namespace holdfast::test
