#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <stop_token>

#include "unit/support/client_in_memory.hpp"
#include "unit/support/stub_sentinel.hpp"

/// A client as it ships, with Sentinels and servers in memory: what a fail-over does to its locks.
namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
using testing::client_in_memory;
using testing::stub_sentinel;
using testing::stub_server;

constexpr auto ttl = 9s;

options watched() { return testing::at({"redis+sentinel://s0,s1,s2/main"}); }

void make_replica(stub_server& which) {
    const auto at = which.info.find("role:master");
    which.info.replace(at, 11, "role:slave");
}

/// Three Sentinels that name `a`, a replica `b`, and a client.
class fail_over {
  public:
    explicit fail_over(options how = watched()) : client(here, std::move(how)) {
        name({.host = "a"});
    }

    void name(const testing::named_master& which) {
        for (auto* each : {&s0, &s1, &s2}) each->names(which);
    }
    /// Another server takes the master's place, and the Sentinels tell.
    void promote_b() {
        name({.host = "b", .epoch = 1});
        for (auto* each : {&s0, &s1, &s2}) each->publishes_switch();
    }
    [[nodiscard]] net::node& node() { return client.engine->node({0}); }

    testing::world here;
    stub_sentinel s0{here, "s0:26379"};
    stub_sentinel s1{here, "s1:26379"};
    stub_sentinel s2{here, "s2:26379"};
    stub_server a{here, "a:6379"};
    stub_server b{here, "b:6379"};
    client_in_memory client;
};

TEST(sentinel_client, asks_the_master_that_the_sentinels_name_and_knows_its_group) {
    fail_over with;
    const auto made = with.client.acquire("k");
    ASSERT_TRUE(made->made);
    EXPECT_TRUE(with.a.owner_of("k").has_value());
    EXPECT_EQ(with.node().name(), "main at a:6379");
    EXPECT_EQ(with.node().location().members, 3U);
    EXPECT_EQ(with.b.asked().size(), 0U);
}

TEST(sentinel_client, asks_for_a_majority_of_a_group_that_grows_while_it_is_connected) {
    fail_over with;
    ASSERT_TRUE(with.client.acquire("k")->made);
    EXPECT_EQ(with.a.latest("WAIT").at(1), "1");
    with.name({.host = "a", .replicas = 4});
    with.here.run_for(1100ms);
    with.a.replicas = 2;
    EXPECT_FALSE(with.client.acquire("j")->made) << "two and the master may miss who has a lock";
    EXPECT_EQ(with.a.latest("WAIT").at(1), "3") << "to meet every majority of three";
    with.a.replicas = 3;
    EXPECT_TRUE(with.client.acquire("j")->made);
    with.name({.host = "a", .replicas = 2});
    with.here.run_for(1100ms);
    with.a.replicas = 2;
    EXPECT_FALSE(with.client.acquire("l")->made) << "a Sentinel that has forgotten some is not new";
}

TEST(sentinel_client, waits_for_one_of_the_group_where_a_stranger_answers_first) {
    fail_over with;
    ASSERT_TRUE(with.client.acquire("k")->made);
    const auto at = with.a.info.find("role:master");
    with.a.info.insert(at, "connected_slaves:3\r\n");
    with.a.replicas = 2;
    EXPECT_TRUE(with.client.acquire("j")->made);
    with.a.replicas = 1;
    const auto refused = with.client.acquire("l");
    EXPECT_FALSE(refused->made);
    EXPECT_EQ(with.a.latest("WAIT").at(1), "2") << "the stranger and one of the group";
    EXPECT_NE(refused->failed->message.find("1 more follow it than its group has"),
              std::string::npos)
        << refused->failed->message;
}

TEST(sentinel_client, asks_for_more_where_the_group_was_agreed_on_when_it_was_smaller) {
    fail_over with;
    with.a.enlisted = "*6\r\n:0\r\n:0\r\n:1000\r\n:0\r\n:1700000000000000\r\n:3\r\n";
    with.name({.host = "a", .replicas = 4});
    with.a.replicas = 2;
    EXPECT_FALSE(with.client.acquire("k")->made);
    EXPECT_EQ(with.a.latest("WAIT").at(1), "3");
    with.a.replicas = 3;
    EXPECT_TRUE(with.client.acquire("k")->made);
}

TEST(sentinel_client, connects_anew_when_the_first_replica_joins) {
    fail_over with;
    with.name({.host = "a", .replicas = 0});
    ASSERT_TRUE(with.client.acquire("k")->made);
    EXPECT_EQ(with.a.count("WAIT"), 0);
    with.name({.host = "a", .replicas = 1});
    with.here.run_for(1100ms);
    ASSERT_TRUE(with.client.acquire("j")->made);
    EXPECT_EQ(with.a.latest("WAIT").at(1), "1");
}

TEST(sentinel_client, says_that_more_are_asked_for_than_there_are) {
    auto how = watched();
    how.replica_acks = replicas::exactly(5);
    how.patience = 0ms;
    fail_over with(how);
    const auto made = with.client.acquire("k");
    ASSERT_FALSE(made->made);
    EXPECT_NE(made->failed->message.find("replica_acks asks for 5 replicas, and its group has 2"),
              std::string::npos)
        << made->failed->message;
}

TEST(sentinel_client, is_guarded_unless_told_otherwise) {
    EXPECT_TRUE(*fail_over().client.engine->settings().restart_guard);
    auto how = watched();
    how.restart_guard = false;
    EXPECT_FALSE(*fail_over(how).client.engine->settings().restart_guard);
}

TEST(sentinel_client, a_lease_goes_on_where_the_new_master_knows_it) {
    fail_over with;
    auto lease = std::move(with.client.acquire("k", {.ttl = ttl})->made);
    ASSERT_TRUE(lease);
    with.b.put("k", *with.a.owner_of("k"), ttl);
    with.a.stop();
    with.promote_b();
    with.here.run_for(3 * ttl);
    EXPECT_FALSE(lease->lost());
    EXPECT_GT(with.b.count("extend"), 5);
    lease->detach();
}

TEST(sentinel_client, a_lease_is_announced_as_lost_in_time_where_it_does_not) {
    fail_over with;
    auto lease = std::move(with.client.acquire("k", {.ttl = ttl})->made);
    ASSERT_TRUE(lease);
    std::optional<core::time_point> announced;
    const auto until = lease->valid_until();
    const std::stop_callback<std::function<void()>> loss(lease->stop_token(),
                                                         [&] { announced = with.here.now(); });
    with.a.stop();
    with.promote_b();
    with.here.run_for(ttl);
    ASSERT_TRUE(announced);
    EXPECT_LT(*announced, until);
    EXPECT_TRUE(lease->lost());
}

TEST(sentinel_client, leaves_a_master_that_stands_still_as_soon_as_another_is_named) {
    fail_over with;
    with.client.acquire("k")->made->release();
    for (const auto& each : with.a.connections()) each->stall(true);
    const auto waits = with.client.start("k");
    with.here.run_for(100ms);
    EXPECT_FALSE(waits->done);
    with.promote_b();
    with.here.run_for(0ms);
    with.here.run_for(1ms);
    ASSERT_TRUE(waits->done) << "no time-out had to pass";
    EXPECT_TRUE(waits->made);
    EXPECT_TRUE(with.b.owner_of("k").has_value());
    EXPECT_TRUE(with.a.connections().empty());
}

TEST(sentinel_client, an_idle_client_follows_too) {
    fail_over with;
    with.client.acquire("k")->made->release();
    with.here.run_for(10s);
    with.promote_b();
    with.here.run_for(1s);
    EXPECT_EQ(with.node().name(), "main at b:6379");
    EXPECT_TRUE(with.node().ready());
}

TEST(sentinel_client, never_believes_a_replica_and_asks_another_sentinel) {
    fail_over with;
    make_replica(with.a);
    with.s1.names({.host = "b"});
    const auto made = with.client.acquire("k");
    ASSERT_TRUE(made->made) << made->failed->message;
    EXPECT_EQ(with.a.count("enlist") + with.a.count("queue_acquire"), 0);
    EXPECT_TRUE(with.b.owner_of("k").has_value());
}

// The first Sentinel was cut off together with the old master, and both can be reached.
TEST(sentinel_client, asks_another_sentinel_where_replicas_do_not_acknowledge) {
    fail_over with;
    with.a.replicas = 0;
    for (auto* each : {&with.s1, &with.s2}) each->names({.host = "b", .epoch = 1});
    const auto first = with.client.acquire("k");
    const auto made = first->made ? first : with.client.acquire("k");
    ASSERT_TRUE(made->made) << made->failed->message;
    EXPECT_TRUE(with.b.owner_of("k").has_value());
}

TEST(sentinel_client, keeps_a_lease_while_it_asks_who_else_might_be_the_master) {
    fail_over with;
    auto lease = std::move(with.client.acquire("k", {.ttl = ttl})->made);
    ASSERT_TRUE(lease);
    const auto connected = with.a.count("HELLO");
    with.a.replicas = 0;
    with.here.run_for(ttl / 2);
    EXPECT_GT(with.s1.asked() + with.s2.asked(), 0);
    with.a.replicas = 2;
    with.here.run_for(2 * ttl);
    EXPECT_FALSE(lease->lost());
    EXPECT_EQ(with.a.count("HELLO"), connected) << "it was left";
    lease->detach();
}

TEST(sentinel_client, says_who_was_named_where_all_name_a_replica) {
    auto how = watched();
    how.patience = 1s;
    fail_over with(how);
    make_replica(with.a);
    const auto made = with.client.acquire("k");
    ASSERT_TRUE(made->failed);
    EXPECT_NE(made->failed->message.find(
                  "main at a:6379: is a replica, though a Sentinel named it as the master"),
              std::string::npos)
        << made->failed->message;
    EXPECT_GT(with.s0.asked(), 0);
    EXPECT_GT(with.s1.asked(), 0);
    EXPECT_GT(with.s2.asked(), 0);
    EXPECT_LT(with.a.count("HELLO"), 2 * 40) << "on two connections, with pauses that grow";
}

TEST(sentinel_client, goes_to_the_next_sentinel_where_one_names_a_dead_server) {
    fail_over with;
    with.s0.names({.host = "nowhere"});
    const auto made = with.client.acquire("k");
    ASSERT_TRUE(made->made) << made->failed->message;
    EXPECT_TRUE(with.a.owner_of("k").has_value());
}

TEST(sentinel_client, asks_again_when_its_master_is_demoted) {
    fail_over with;
    with.client.acquire("k")->made->release();
    with.a.answer("queue_acquire", "-READONLY You can't write against a read only replica.\r\n");
    make_replica(with.a);
    with.name({.host = "b", .epoch = 1});  // and nobody tells
    const auto made = with.client.acquire("k");
    ASSERT_TRUE(made->made) << made->failed->message;
    EXPECT_TRUE(with.b.owner_of("k").has_value());
}

TEST(sentinel_client, a_heartbeat_that_finds_a_replica_makes_it_ask_again) {
    fail_over with;
    with.client.acquire("k")->made->release();
    for (auto* each : {&with.s0, &with.s1, &with.s2}) each->server.stop();
    make_replica(with.a);
    with.here.run_for(1s);
    EXPECT_FALSE(with.node().ready()) << "a replica is left, wherever the master may be";
    with.name({.host = "b", .epoch = 1});
    for (auto* each : {&with.s0, &with.s1, &with.s2}) each->server.start();
    with.here.run_for(2s);
    EXPECT_EQ(with.node().name(), "main at b:6379");
}

TEST(sentinel_client, does_not_notice_that_all_sentinels_are_away_while_its_master_is_there) {
    fail_over with;
    auto lease = std::move(with.client.acquire("k", {.ttl = ttl})->made);
    ASSERT_TRUE(lease);
    for (auto* each : {&with.s0, &with.s1, &with.s2}) each->server.stop();
    with.here.run_for(3 * ttl);
    EXPECT_FALSE(lease->lost());
    EXPECT_EQ(with.a.count("HELLO"), 2) << "once for votes, and once for acknowledgements";
}

TEST(sentinel_client, knows_by_the_name_of_the_group_whom_nobody_could_find) {
    auto how = watched();
    how.patience = 0ms;
    fail_over with(how);
    for (auto* each : {&with.s0, &with.s1, &with.s2}) each->server.stop();
    const auto made = with.client.acquire("k");
    ASSERT_TRUE(made->failed);
    EXPECT_NE(made->failed->message.find("main of s0:26379: no Sentinel names the master: "
                                         "s0:26379: Connection refused, s1:26379: "),
              std::string::npos)
        << made->failed->message;
}

TEST(sentinel_client, groups_and_servers_vote_together) {
    testing::world here;
    stub_sentinel s0(here, "s0:26379");
    stub_sentinel s1(here, "s1:26379");
    s0.names({.host = "a"});
    s1.names({.host = "b"});
    std::deque<stub_server> servers;
    for (const auto* name : {"a:6379", "b:6379", "c:6379"}) servers.emplace_back(here, name);
    client_in_memory client(
        here, testing::at({"redis+sentinel://s0/main", "redis+sentinel://s1/main", "redis://c"}));
    const auto made = client.acquire("k");
    ASSERT_TRUE(made->made) << made->failed->message;
    here.run_for(100ms);
    for (const auto& each : servers) EXPECT_TRUE(each.owner_of("k").has_value());
}

TEST(sentinel_client, a_group_that_is_given_twice_is_refused) {
    testing::world here;
    const auto refused = [&](const std::string& one, const std::string& other) -> std::string {
        try {
            client_in_memory(here, testing::at({one, other, "redis://c"}));
        } catch (const std::system_error& thrown) {
            return thrown.what();
        }
        return {};
    };
    EXPECT_NE(refused("redis+sentinel://s0,s1/main", "redis+sentinel://s2,s1:26379/main")
                  .find("main of s2:26379 is given twice"),
              std::string::npos);
    EXPECT_EQ(refused("redis+sentinel://s0,s1/main", "redis+sentinel://s0,s1/other"), "");
    EXPECT_EQ(refused("redis+sentinel://s0,s1/main", "redis+sentinel://s2,s3/main"), "");
}

}  // namespace
}  // namespace holdfast::runtime
