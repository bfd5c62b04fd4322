#include <atomic>
#include <thread>

#include "integration/quorum.hpp"
#include "support/shifted_clock.hpp"

namespace holdfast::test {
namespace {

/// A, B, C, D, E: client 1 gets A, B, C; C restarts empty; client 2 asks C, D, E.
struct scenario {
    explicit scenario(bool guarded) {
        settings = nodes.settings();
        settings.restart_guard = guarded;
        settings.patience = 0ms;
    }

    bool second_client_gets_it() {
        client one(settings);
        for (const std::size_t n : {3U, 4U}) nodes.server(n).command({"SET", "k", "x"});
        const auto first = one.acquire("k", {.ttl = 15s, .renew = false});
        EXPECT_EQ(first.lost(), false);
        one.connect();  // answered behind the attempt, also where three votes did not wait for it
        for (const std::size_t n : {3U, 4U}) nodes.server(n).command({"DEL", "k"});
        nodes.server(2).restart(data::lost);
        client two(settings);
        (void)error_of([&] { two.connect(); });
        const auto second = mutex(two, "k", with_ttl(10s)).try_acquire();
        EXPECT_FALSE(first.lost()) << "the first client still believes, and may";
        return second.has_value();
    }

    quorum nodes{5, {}, 20s};
    options settings;
};

TEST(restart_guard, without_it_a_forgetful_node_gives_the_lock_away_twice) {
    scenario unguarded(false);
    EXPECT_TRUE(unguarded.second_client_gets_it());
}

TEST(restart_guard, with_it_there_is_one_holder) {
    scenario guarded(true);
    EXPECT_FALSE(guarded.second_client_gets_it());
}

TEST(restart_guard, a_restarted_server_grants_nothing_until_every_lease_of_before_is_over) {
    redis_server server;
    auto settings = settings_for(server.url());
    settings.restart_guard = true;
    settings.max_ttl = 1500ms;
    {
        client operators(settings);
        ASSERT_EQ(enlist(operators, true).front(), 0ms);
    }
    client through(settings);
    ASSERT_TRUE(mutex(through, "k", with_ttl(1s)).try_acquire().has_value());
    server.restart(data::lost);
    const stopwatch since;
    const auto denied = mutex(through, "k", with_ttl(1s)).try_acquire();
    ASSERT_FALSE(denied.has_value());
    ASSERT_TRUE(denied.held_by().has_value());
    EXPECT_TRUE(denied.held_by()->quarantine);
    const auto lease = through.acquire("k", with_ttl(1s));
    EXPECT_GE(since.elapsed(), 1400ms);
    EXPECT_FALSE(lease.lost());
}

TEST(restart_guard, quarantine_holds_for_clients_that_come_later_too) {
    redis_server server;
    auto settings = settings_for(server.url());
    settings.restart_guard = true;
    settings.max_ttl = 30s;
    client first(settings);
    first.connect();
    client second(settings);
    const auto denied = mutex(second, "k", with_ttl(1s)).try_acquire();
    ASSERT_TRUE(denied.held_by().has_value());
    EXPECT_TRUE(denied.held_by()->quarantine);
    EXPECT_GT(*denied.held_by()->remaining, 20s);
}

TEST(restart_guard, an_operator_can_vouch_for_a_fresh_server) {
    redis_server server;
    auto settings = settings_for(server.url());
    settings.restart_guard = true;
    client through(settings);
    EXPECT_GT(enlist(through, false).front(), 0ms);
    EXPECT_EQ(enlist(through, true).front(), 0ms);
    EXPECT_TRUE(mutex(through, "k").try_acquire().has_value());
}

// The counter was started when the clock was ahead, by less than the quarantine takes: so it is
// within what T2 assumes that the clock is right again when the server has lost its last writes.
TEST(restart_guard, tokens_increase_when_a_counter_is_rolled_back_while_the_clock_is_behind_it) {
    if (!shifted_clock::available()) GTEST_SKIP() << "no library to shift clocks with";
    shifted_clock clock_of_it;
    clock_of_it.set_offset(1s);
    redis_server server({.environment = clock_of_it.environment()});
    auto settings = settings_for(server.url());
    settings.restart_guard = true;
    settings.max_ttl = 2s;
    {
        client operators(settings);
        ASSERT_EQ(enlist(operators, true).front(), 0ms);
    }
    client through(settings);
    (void)through.acquire("k", with_ttl(1s));
    server.command({"SAVE"});
    for (int n = 0; n < 5; ++n) (void)through.acquire("k", with_ttl(1s));
    const auto before = through.acquire("k", with_ttl(1s)).token();
    server.kill_hard();
    clock_of_it.set_offset(0s);
    server.start();
    ASSERT_LT(std::stoull(server.get("holdfast:{k}:fence").value()), before);
    EXPECT_GT(through.acquire("k", with_ttl(1s)).token(), before);
}

TEST(clock_jump, voids_the_vote_of_the_node_whose_clock_jumped) {
    shifted_clock shifted;
    redis_server jumping({.environment = shifted.environment()});
    redis_server second;
    redis_server third;
    std::atomic<int> jumps = 0;
    options settings;
    settings.urls = {jumping.url(), second.url(), third.url()};
    settings.log = [&](const log_record& record) { jumps += record.event == "clock_jumped"; };
    client through(settings);
    ASSERT_EQ(enlist(through, true).front(), 0ms);
    ASSERT_TRUE(mutex(through, "k").try_acquire().has_value());
    std::this_thread::sleep_for(2500ms);  // a few heartbeats: no jump must be seen in them
    EXPECT_EQ(jumps.load(), 0);
    shifted.jump(1h);
    ASSERT_TRUE(eventually(surely, [&] { return jumps.load() > 0; }));
    // With one more node gone, the vote of the third would be needed.
    EXPECT_TRUE(mutex(through, "k").try_acquire().has_value());
    third.kill_hard();
    const auto error = error_of([&] { (void)mutex(through, "k").try_acquire(); });
    EXPECT_TRUE(contains(error.what, "clock jumped")) << error.what;
}

// It is looked at again twice a second, by connecting anew.
TEST(clock_jump, is_looked_for_while_an_unfit_server_of_the_quorum_is_asked_all_the_time) {
    redis_server watched;
    redis_server second;
    redis_server unfit({.configuration = {"maxmemory 100mb", "maxmemory-policy allkeys-lru"}});
    options settings;
    settings.urls = {watched.url(), second.url(), unfit.url()};
    client through(settings);
    ASSERT_EQ(enlist(through, true).front(), 0ms);
    (void)mutex(through, "k", with_ttl(1s))
        .try_acquire();  // its counter is there: no more TIME for it
    watched.command({"CONFIG", "RESETSTAT"});
    EXPECT_TRUE(eventually(6s * slowness, [&] {
        (void)mutex(through, "k", with_ttl(1s)).try_acquire();
        const auto counts = watched.command({"INFO", "commandstats"});
        const auto at = counts.find("cmdstat_time:calls=");
        return at != counts.npos && std::stoi(counts.substr(at + 19)) >= 4;
    }));
}

TEST(eviction, is_named_as_the_reason_while_the_servers_are_looked_at_again) {
    const redis_options evicts{
        .configuration = {"maxmemory 100mb", "maxmemory-policy allkeys-lru"}};
    redis_server first(evicts);
    redis_server second(evicts);
    redis_server third;
    options settings;
    settings.urls = {first.url(), second.url(), third.url()};
    client through(settings);
    std::string other;
    (void)eventually(1500ms, [&] {
        const auto error = error_of([&] { (void)mutex(through, "k").try_acquire(); });
        if (!contains(error.what, "noeviction")) other = error.what;
        return !other.empty();
    });
    EXPECT_EQ(other, "");
}

TEST(eviction, a_server_that_may_evict_locks_is_refused_unless_allowed) {
    redis_server server({.configuration = {"maxmemory 100mb", "maxmemory-policy allkeys-lru"}});
    client careful(server.url());
    const auto error = error_of([&] { (void)mutex(careful, "k").try_acquire(); });
    EXPECT_EQ(error.code, errc::unsafe_server);
    EXPECT_TRUE(contains(error.what, "noeviction")) << error.what;
    auto settings = settings_for(server.url());
    settings.allow_eviction = true;
    client careless(settings);
    EXPECT_TRUE(mutex(careless, "k").try_acquire().has_value());
}

}  // namespace
}  // namespace holdfast::test
