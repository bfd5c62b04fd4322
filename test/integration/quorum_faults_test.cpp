#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "integration/quorum.hpp"

namespace holdfast::test {
namespace {

struct outage {
    const char* name;
    bool renews = false;  // leases that stand there can still be extended
    std::function<void(quorum&, std::size_t)> begin;
    std::function<void(quorum&, std::size_t)> end;

    /// For GoogleTest, which would show where its bytes lie: another place in every run.
    friend void PrintTo(const outage& what, std::ostream* out) { *out << what.name; }
};

const std::vector<outage>& outages() {
    static const std::vector<outage> all = {
        {"dead", false, [](quorum& of, std::size_t n) { of.server(n).kill_hard(); },
         [](quorum& of, std::size_t n) { of.server(n).restart(data::lost); }},
        {"hanging", false, [](quorum& of, std::size_t n) { of.server(n).pause(); },
         [](quorum& of, std::size_t n) { of.server(n).resume(); }},
        {"black_holed", false, [](quorum& of, std::size_t n) { of.proxy(n).silence(); },
         [](quorum& of, std::size_t n) { of.proxy(n).heal(); }},
        {"mute", false,
         [](quorum& of, std::size_t n) { of.proxy(n).silence(direction::to_client); },
         [](quorum& of, std::size_t n) { of.proxy(n).heal(); }},
        {"refusing", false,
         [](quorum& of, std::size_t n) {
             of.proxy(n).refuse(true);
             of.proxy(n).reset_connections();
         },
         [](quorum& of, std::size_t n) { of.proxy(n).heal(); }},
        {"slow", false,
         [](quorum& of, std::size_t n) { of.proxy(n).delay(direction::to_server, 2s); },
         [](quorum& of, std::size_t n) { of.proxy(n).heal(); }},
        {"full", true,  // answers every request for a vote with an error
         [](quorum& of, std::size_t n) {
             of.server(n).command({"CONFIG", "SET", "maxmemory", "1"});
         },
         [](quorum& of, std::size_t n) {
             of.server(n).command({"CONFIG", "SET", "maxmemory", "0"});
         }},
    };
    return all;
}

class minority : public testing::TestWithParam<outage> {};

TEST_P(minority, out_from_the_start_is_not_noticed_by_the_holder) {
    quorum nodes;
    GetParam().begin(nodes, 1);
    GetParam().begin(nodes, 3);
    client through(nodes.settings());
    for (int n = 0; n < 5; ++n) {
        const auto lease = through.acquire("k" + std::to_string(n), with_ttl(2s));
        EXPECT_FALSE(lease.lost());
    }
    GetParam().end(nodes, 1);
    GetParam().end(nodes, 3);
}

TEST(majority, out_while_a_lease_is_renewed_costs_no_lease_if_it_comes_back_in_time) {
    constexpr milliseconds ttl = 6s;
    quorum nodes(3);
    client through(nodes.settings());
    const auto lease = through.acquire("k", with_ttl(ttl));
    const auto stop = lease.stop_token();
    const auto deadline = lease.valid_until();
    for (const std::size_t n : {0U, 1U}) {
        nodes.proxy(n).refuse(true);
        nodes.proxy(n).reset_connections();
    }
    // By then it was renewed, and tried again, with nodes that fail at once.
    EXPECT_TRUE(eventually(surely, [&] { return clock::now() > deadline - ttl / 2; }));
    EXPECT_EQ(lease.valid_until(), deadline);
    for (const std::size_t n : {0U, 1U}) nodes.proxy(n).heal();
    EXPECT_TRUE(eventually(surely, [&] { return lease.valid_until() > deadline || lease.lost(); }));
    EXPECT_FALSE(lease.lost());
    EXPECT_FALSE(stop.stop_requested());
}

TEST_P(minority, out_in_mid_hold_is_not_noticed_by_the_holder) {
    quorum nodes;
    client through(nodes.settings());
    through.connect();
    const auto lease = through.acquire("k", with_ttl(1500ms));
    ASSERT_TRUE(eventually(surely, [&] { return nodes.holders_of("k") == 5; }));
    GetParam().begin(nodes, 0);
    GetParam().begin(nodes, 4);
    const auto before = lease.valid_until();
    EXPECT_TRUE(eventually(surely, [&] { return lease.valid_until() > before + 3s; }));
    EXPECT_FALSE(lease.lost());
    EXPECT_FALSE(lease.stop_token().stop_requested());
    GetParam().end(nodes, 0);
    GetParam().end(nodes, 4);
}

// Known to be out, a node costs the callers nothing: they do not wait for it again.
TEST_P(minority, is_waited_for_at_most_once) {
    quorum nodes;
    auto settings = nodes.settings();
    settings.node_timeout = 200ms * slowness;
    client through(settings);
    through.connect();
    { const auto warm_up = through.acquire("k"); }
    GetParam().begin(nodes, 2);
    { const auto first = through.acquire("k"); }
    const stopwatch since;
    for (int n = 0; n < 10; ++n) const auto lease = through.acquire("k");
    record("ten_cycles", since.elapsed());
    EXPECT_LT(since.elapsed(), 10 * settings.node_timeout / 2);
    GetParam().end(nodes, 2);
}

TEST_P(minority, a_majority_out_is_an_error_that_names_each_node_and_then_recovers) {
    quorum nodes;
    auto settings = nodes.settings();
    settings.patience = 100ms;
    client through(settings);
    through.connect();
    { const auto warm_up = through.acquire("k"); }
    for (const std::size_t n : {0U, 1U, 2U}) GetParam().begin(nodes, n);
    const auto error = error_of([&] { (void)mutex(through, "k").try_acquire(); });
    EXPECT_TRUE(error.code == errc::unreachable || error.code == errc::server_error) << error.what;
    for (const std::size_t n : {0U, 1U, 2U}) {
        EXPECT_TRUE(contains(error.what, nodes.names()[n])) << error.what;
    }
    EXPECT_TRUE(contains(error.what, "need 3")) << error.what;
    for (const std::size_t n : {0U, 1U, 2U}) GetParam().end(nodes, n);
    EXPECT_TRUE(eventually(surely, [&] {
        std::error_code again;
        client operators(nodes.settings());
        try {
            (void)enlist(operators, true);
        } catch (const std::system_error&) {
            return false;
        }
        return mutex(through, "k").try_acquire({}, again).has_value();
    }));
}

TEST_P(minority, holders_are_told_before_the_deadline_when_a_majority_goes) {
    if (GetParam().renews) return;  // a server without memory still extends what it has
    quorum nodes;
    client through(nodes.settings());
    through.connect();
    const auto lease = through.acquire("k", with_ttl(2s));
    const auto told = lease.stop_token();
    for (const std::size_t n : {1U, 2U, 4U}) GetParam().begin(nodes, n);
    ASSERT_TRUE(eventually(surely, [&] { return told.stop_requested(); }));
    EXPECT_LT(clock::now(), lease.valid_until());
    for (const std::size_t n : {1U, 2U, 4U}) GetParam().end(nodes, n);
}

INSTANTIATE_TEST_SUITE_P(of, minority, testing::ValuesIn(outages()),
                         [](const auto& each) { return each.param.name; });

// The reply is lost after the SET landed: the node must be cleaned up all the same.
TEST(quorum_faults, a_grant_whose_reply_was_lost_is_released) {
    quorum nodes(3);
    auto settings = nodes.settings();
    settings.patience = 0ms;
    client through(settings);
    through.connect();
    { const auto warm_up = through.acquire("k"); }
    ASSERT_TRUE(eventually(surely, [&] { return nodes.holders_of("k") == 0; }));
    nodes.proxy(0).silence(direction::to_client);
    nodes.proxy(1).silence(direction::to_client);
    EXPECT_EQ(error_of([&] { (void)mutex(through, "k").try_acquire(with_ttl(50s)); }).code,
              errc::unreachable);
    EXPECT_TRUE(eventually(surely, [&] { return nodes.holders_of("k") == 0; }));
}

// The same with a connection that breaks: the release follows on the next one.
TEST(quorum_faults, what_a_broken_connection_left_behind_is_released_after_the_reconnect) {
    quorum nodes(3);
    auto settings = nodes.settings();
    settings.patience = 0ms;
    client through(settings);
    through.connect();
    { const auto warm_up = through.acquire("k"); }
    ASSERT_TRUE(eventually(surely, [&] { return nodes.holders_of("k") == 0; }));
    for (const std::size_t n : {0U, 1U}) nodes.proxy(n).cut_after(direction::to_client, 0);
    (void)error_of([&] { (void)mutex(through, "k").try_acquire(with_ttl(50s)); });
    EXPECT_TRUE(eventually(surely, [&] { return nodes.holders_of("k") == 0; }));
}

TEST(quorum_faults, split_segments_change_nothing) {
    quorum nodes(3);
    for (std::size_t n = 0; n < 3; ++n) nodes.proxy(n).split(true);
    auto patient = nodes.settings();  // byte by byte, a handshake takes most of a second
    patient.connect_timeout = patient.node_timeout = 10s;
    client through(patient);
    through.connect();
    for (int n = 0; n < 20; ++n) {
        const auto lease = through.acquire("k");
        EXPECT_GT(lease.token(), 0U);
    }
}

TEST(quorum_faults, workers_lose_no_update_while_a_minority_dies_and_returns) {
    quorum nodes;
    std::atomic<bool> stop = false;
    long unprotected = 0;
    std::atomic<long> done = 0;
    std::vector<std::jthread> workers;
    for (int n = 0; n < 4; ++n) {
        workers.emplace_back([&] {
            client through(nodes.settings());
            through.connect();
            while (!stop) {
                const auto held = through.acquire("k");
                const auto seen = unprotected;
                std::this_thread::yield();
                unprotected = seen + 1;
                ++done;
            }
        });
    }
    for (const std::size_t n : {0U, 3U}) {
        nodes.server(n).kill_hard();
        const auto before = done.load();
        EXPECT_TRUE(eventually(surely, [&] { return done.load() > before + 20; }));
        nodes.server(n).restart(data::lost);
    }
    stop = true;
    workers.clear();
    EXPECT_EQ(unprotected, done.load());
}

}  // namespace
}  // namespace holdfast::test
