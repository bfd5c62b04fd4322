#include <atomic>
#include <future>
#include <thread>

#include "integration/client_list.hpp"
#include "integration/library.hpp"
#include "support/fault_proxy.hpp"

/// What happens to a server while a lock is held, and while one is waited for.
namespace holdfast::test {
namespace {

constexpr milliseconds ttl = 500ms * slowness;

class faults : public testing::Test {
  protected:
    explicit faults(redis_options how = {}) : server_(std::move(how)) {}

    options named(const std::string& name) {
        auto settings = settings_for(server_.url());
        settings.client_name = name;
        settings.patience = surely;
        return settings;
    }

    /// Waits for "k" in another thread, until the server has said no once.
    std::future<std::string> begin_to_wait() {
        auto result = std::async(std::launch::async, [this] {
            const auto held = mutex(waiter_, "k").acquire();
            return std::string(held.verify() ? "got it" : "got nothing");
        });
        EXPECT_TRUE(eventually(surely, [&] { return waiter_.statistics().denied > 0; }));
        return result;
    }

    bool renewed_again() {
        const auto before = holder_.statistics().renewed;
        return eventually(surely, [&] { return holder_.statistics().renewed > before; });
    }

    redis_server server_;
    client holder_{named("holder")};
    client waiter_{named("waiter")};
};

TEST_F(faults, script_flush_while_a_lock_is_held_and_waited_for) {
    auto held = mutex(holder_, "k", with_ttl(ttl)).acquire();
    auto waiter = begin_to_wait();
    server_.command({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(renewed_again());
    EXPECT_FALSE(held.lost());
    server_.command({"SCRIPT", "FLUSH"});
    EXPECT_EQ(held.release(), release_result::released);
    server_.command({"SCRIPT", "FLUSH"});
    EXPECT_EQ(waiter.get(), "got it");
}

TEST_F(faults, script_flush_costs_one_round_trip_and_no_failure) {
    for (int round = 0; round < 10; ++round) {
        server_.command({"SCRIPT", "FLUSH"});
        auto held = mutex(holder_, "k").try_acquire();
        ASSERT_TRUE(held);
        EXPECT_EQ(held->release(), release_result::released);
    }
}

TEST_F(faults, client_kill_of_the_holder_is_survived) {
    auto held = mutex(holder_, "k", with_ttl(ttl)).acquire();
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(kill_connections(server_, "holder"), 1U);
        EXPECT_TRUE(renewed_again());
    }
    EXPECT_FALSE(held.lost());
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(faults, client_kill_of_a_waiter_is_survived) {
    auto held = mutex(holder_, "k", with_ttl(30s)).acquire();
    auto waiter = begin_to_wait();
    for (int round = 0; round < 3; ++round) {
        const auto before = waiter_.statistics().connected;
        EXPECT_EQ(kill_connections(server_, "waiter"), 1U);
        EXPECT_TRUE(eventually(surely, [&] { return waiter_.statistics().connected > before; }));
    }
    held.release();
    EXPECT_EQ(waiter.get(), "got it");
}

TEST_F(faults, client_kill_before_a_single_attempt_is_not_noticed) {
    holder_.connect();
    for (int round = 0; round < 5; ++round) {
        EXPECT_EQ(kill_connections(server_, "holder"), 1U);
        std::this_thread::sleep_for(2ms);  // a connection used a moment ago is not looked at
        EXPECT_TRUE(mutex(holder_, "k").try_acquire());
    }
}

TEST_F(faults, flushall_loses_the_lease_and_lets_the_waiter_in) {
    const auto held = mutex(holder_, "k", with_ttl(ttl)).acquire();
    const auto stop = held.stop_token();
    auto waiter = begin_to_wait();
    server_.command({"FLUSHALL"});
    EXPECT_EQ(waiter.get(), "got it");
    EXPECT_TRUE(eventually(surely, [&] { return stop.stop_requested(); }));
    EXPECT_LT(clock::now(), held.valid_until() + promptly);
    EXPECT_TRUE(held.lost());
}

TEST_F(faults, kill_9_and_a_restart_without_data_loses_the_lease) {
    const auto held = mutex(holder_, "k", with_ttl(ttl)).acquire();
    const auto stop = held.stop_token();
    server_.kill_hard();
    server_.restart(data::lost);
    EXPECT_TRUE(eventually(surely, [&] { return stop.stop_requested(); }));
    EXPECT_TRUE(eventually(surely, [&] { return held.lost(); }));
    EXPECT_FALSE(server_.exists("k")) << "never silently created again";
}

TEST_F(faults, kill_9_and_a_restart_while_a_lock_is_waited_for) {
    const auto held = mutex(holder_, "k", with_ttl(30s)).acquire();
    auto waiter = begin_to_wait();
    server_.kill_hard();
    server_.restart(data::lost);
    EXPECT_EQ(waiter.get(), "got it");
}

TEST_F(faults, a_waiter_gives_up_when_its_patience_with_a_dead_server_is_over) {
    const auto held = mutex(holder_, "k", with_ttl(30s)).acquire();
    auto settings = named("impatient");
    settings.patience = 200ms;
    client impatient(settings);
    auto waiter = std::async(std::launch::async, [&] {
        return error_of([&] { (void)mutex(impatient, "k").acquire(); });
    });
    EXPECT_TRUE(eventually(surely, [&] { return impatient.statistics().denied > 0; }));
    server_.kill_hard();
    const auto error = waiter.get();
    EXPECT_EQ(error.code, errc::unreachable) << error.what;
}

TEST_F(faults, a_server_that_is_stopped_and_goes_on_wakes_the_waiter) {
    auto held = mutex(holder_, "k", with_ttl(30s)).acquire();
    auto waiter = begin_to_wait();
    server_.pause();
    EXPECT_EQ(waiter.wait_for(200ms), std::future_status::timeout);
    server_.resume();
    held.release();
    EXPECT_EQ(waiter.get(), "got it");
}

TEST_F(faults, a_timed_lock_on_a_stopped_server_keeps_its_time_and_says_why) {
    holder_.connect();
    server_.pause();
    const stopwatch watch;
    const auto error = error_of([&] { (void)mutex(holder_, "k").try_lock_for(100ms); });
    EXPECT_LT(watch.elapsed(), 100ms + promptly);
    EXPECT_EQ(error.code, errc::unreachable) << error.what;
    EXPECT_TRUE(contains(error.what, std::to_string(server_.port()))) << error.what;
    server_.resume();
}

TEST_F(faults, a_release_that_a_dead_server_never_saw_is_unknown_and_made_up_for) {
    fault_proxy network(server_.port());
    client through(network.url());
    auto held = mutex(through, "k", with_ttl(30s)).acquire();
    network.refuse(true);
    network.reset_connections();
    EXPECT_EQ(held.release(), release_result::unknown);
    EXPECT_TRUE(server_.exists("k"));
    network.heal();
    EXPECT_TRUE(eventually(surely, [&] { return !server_.exists("k"); }));
}

TEST_F(faults, an_acquire_whose_answer_was_lost_is_cleaned_up_after_the_reconnect) {
    fault_proxy network(server_.port());
    auto settings = settings_for(network.url());
    client through(settings);
    through.connect();
    network.cut_after(direction::to_client, 3);
    EXPECT_EQ(error_of([&] { (void)mutex(through, "k").try_acquire(); }).code, errc::unreachable);
    EXPECT_TRUE(eventually(surely, [&] { return !server_.exists("k"); }));
}

// The server does not tell a client of what it deletes itself: whoever asks ahead of that waits
// until it looks again by itself, seconds later. Connecting anew has to be faster than a pause to
// see it.
TEST_F(faults, nobody_waits_for_a_lock_that_the_client_itself_was_granted_and_lost) {
    fault_proxy network(server_.port());
    client through(settings_for(network.url()));
    through.connect();
    const stopwatch watch;
    for (int round = 0; round < 100; ++round) {
        network.cut_after(direction::to_client, 0);
        EXPECT_EQ(through.acquire("k").release(), release_result::released);
    }
    EXPECT_LT(watch.elapsed(), 5s * slowness);
}

class durable_faults : public faults {
  protected:
    durable_faults() : faults({.append_only = true}) {}
};

TEST_F(durable_faults, kill_9_and_a_restart_with_data_is_survived) {
    auto held = mutex(holder_, "k", with_ttl(5s)).acquire();
    server_.kill_hard();
    server_.start();
    EXPECT_TRUE(renewed_again());
    EXPECT_FALSE(held.lost());
    EXPECT_FALSE(held.stop_token().stop_requested());
    EXPECT_FALSE(mutex(waiter_, "k").try_acquire());
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(faults, a_server_that_may_evict_locks_is_refused_unless_allowed) {
    server_.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    client strict(server_.url());
    const auto error = error_of([&] { mutex(strict, "k").lock(); });
    EXPECT_EQ(error.code, errc::unsafe_server);
    EXPECT_TRUE(contains(error.what, "noeviction")) << error.what;
    EXPECT_TRUE(contains(error.what, "allkeys-lru")) << error.what;
    auto settings = settings_for(server_.url());
    settings.allow_eviction = true;
    client lax(settings);
    EXPECT_TRUE(mutex(lax, "k").try_acquire());
}

TEST_F(faults, a_replica_is_refused) {
    const redis_server replica(
        {.configuration = {"replicaof 127.0.0.1 " + std::to_string(server_.port())}});
    client through(replica.url());
    const auto error = error_of([&] { (void)mutex(through, "k").try_acquire(); });
    EXPECT_EQ(error.code, errc::unsafe_server);
    EXPECT_TRUE(contains(error.what, "replica")) << error.what;
}

TEST_F(faults, a_server_without_memory_says_so) {
    server_.command({"CONFIG", "SET", "maxmemory", "1"});
    const auto error = error_of([&] { (void)mutex(holder_, "k").try_acquire(); });
    EXPECT_EQ(error.code, errc::server_error) << error.what;
    EXPECT_TRUE(contains(error.what, "OOM")) << error.what;
}

TEST_F(faults, threads_go_on_through_a_storm_of_resets) {
    fault_proxy network(server_.port());
    auto settings = settings_for(network.url());
    settings.patience = surely;
    client through(settings);
    std::atomic<int> inside = 0;
    std::atomic<int> done = 0;
    std::vector<std::thread> workers;
    for (int n = 0; n < 4; ++n) {
        workers.emplace_back([&] {
            mutex shared(through, "k", with_ttl(2s));
            for (int round = 0; round < 25; ++round) {
                shared.lock();
                EXPECT_EQ(++inside, 1);
                --inside;
                shared.unlock();
                ++done;
            }
        });
    }
    while (done < 100) {
        std::this_thread::sleep_for(10ms);
        network.reset_connections();
    }
    for (auto& worker : workers) worker.join();
    EXPECT_EQ(done, 100);
}

}  // namespace
}  // namespace holdfast::test
