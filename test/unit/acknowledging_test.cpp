#include "net/acknowledging.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "runtime/endpoints.hpp"
#include "unit/support/client_in_memory.hpp"
#include "unit/support/stub_server.hpp"

/// A client whose grants count when replicas have acknowledged them, in a world in memory.
namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::client_in_memory;
using testing::stub_server;
using testing::world;

options acknowledged_by(std::size_t count) {
    auto settings = testing::at({"redis://redis"});
    settings.replica_acks = replicas::exactly(count);
    return settings;
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// What INFO says of a server in this life. A second id: it was a replica.
std::string info_of(const std::string& replication, const std::string& second = "0000") {
    return "redis_version:7.0.15\r\nrun_id:life-of-redis:6379\r\nrole:master\r\n"
           "maxmemory_policy:noeviction\r\nmaster_replid:" +
           replication + "\r\nmaster_replid2:" + second + "\r\n";
}

class acknowledging : public ::testing::Test {
  protected:
    /// Connected, and its replicas say nothing from now on.
    void silence() {
        ASSERT_TRUE(client.acquire("another")->made);
        server.forget_asked();
        server.silence_replicas();
    }
    std::shared_ptr<testing::pending_result> start(const std::string& key, bool waits = false) {
        auto result = client.start(key, {}, waits);
        here.settle();
        return result;
    }

    world here;
    stub_server server{here, "redis:6379"};
    client_in_memory client{here, acknowledged_by(1)};
};

TEST_F(acknowledging, a_grant_counts_when_the_replicas_have_it_and_not_before) {
    silence();
    const auto lock = start("key");
    EXPECT_TRUE(server.owner_of("key")) << "the server has granted it";
    EXPECT_FALSE(lock->done) << "and its replicas do not know yet";
    server.acknowledge(1);
    here.settle();
    ASSERT_TRUE(lock->done);
    EXPECT_TRUE(lock->made);
}

TEST_F(acknowledging, the_lease_is_counted_from_when_it_was_asked_for) {
    silence();
    const auto before = here.now();
    const auto lock = start("key");
    here.run_for(400ms);
    server.acknowledge(1);
    here.settle();
    ASSERT_TRUE(lock->made);
    EXPECT_LT(lock->made->valid_until(), before + 30s);
}

TEST_F(acknowledging, asks_by_a_write_that_propagates_and_reads_the_life_behind_it) {
    silence();
    const auto lock = start("key");
    server.acknowledge(1);
    here.settle();
    ASSERT_TRUE(lock->made);
    const std::vector<std::string> asked{"queue_acquire", "SET", "WAIT", "INFO"};
    EXPECT_EQ(server.asked(), asked);
    EXPECT_EQ(server.latest("SET")[1], core::acknowledged_key);
    EXPECT_EQ(server.latest("WAIT")[1], "1");
    EXPECT_EQ(server.latest("WAIT")[2], "750") << "three quarters of node_timeout";
    EXPECT_EQ(server.latest("INFO")[1], "replication");
}

TEST_F(acknowledging, covers_only_what_was_received_before_its_write_was_sent) {
    silence();
    const auto first = start("first");
    const auto second = start("second");
    ASSERT_TRUE(server.owner_of("second"));
    EXPECT_EQ(server.count("WAIT"), 1);
    server.acknowledge(1, false);
    here.settle();
    EXPECT_TRUE(first->made);
    EXPECT_FALSE(second->done) << "it came behind the write that was acknowledged";
    EXPECT_EQ(server.count("WAIT"), 2);
    server.acknowledge(1);
    here.settle();
    EXPECT_TRUE(second->made);
}

TEST_F(acknowledging, one_round_confirms_all_that_came_during_the_last) {
    silence();
    std::vector<std::shared_ptr<testing::pending_result>> all;
    for (const auto* key : {"a", "b", "c", "d", "e"}) all.push_back(start(key));
    server.acknowledge(1);
    here.settle();
    for (const auto& each : all) EXPECT_TRUE(each->made);
    EXPECT_EQ(server.count("WAIT"), 2);
}

TEST_F(acknowledging, too_few_replicas_are_told_and_the_lock_is_released) {
    silence();
    server.acknowledge(0);
    const auto lock = start("key");
    ASSERT_TRUE(lock->failed);
    EXPECT_EQ(lock->failed->code, errc::unreachable);
    EXPECT_EQ(lock->failed->message,
              "redis:6379: granted, but acknowledged by 0 of the 1 replicas that replica_acks asks "
              "for");
    EXPECT_FALSE(server.owner_of("key"));
}

TEST_F(acknowledging, a_waiting_caller_asks_again_until_they_acknowledge) {
    silence();
    server.acknowledge(0);
    const auto lock = start("key", true);
    EXPECT_FALSE(lock->done);
    server.acknowledge(1);
    here.run_for(1s);
    ASSERT_TRUE(lock->done);
    EXPECT_TRUE(lock->made);
}

TEST_F(acknowledging, replicas_that_never_answer_cost_no_more_than_the_time_of_an_answer) {
    silence();
    const auto lock = start("key");
    here.run_for(999ms);
    EXPECT_FALSE(lock->done);
    here.run_for(1ms);
    ASSERT_TRUE(lock->failed);
    EXPECT_TRUE(contains(lock->failed->message, "no answer in time")) << lock->failed->message;
    EXPECT_FALSE(server.owner_of("key"));
}

TEST_F(acknowledging, who_gives_up_meanwhile_leaves_no_key) {
    silence();
    const auto lock = start("key", true);
    ASSERT_TRUE(server.owner_of("key"));
    client.cancel(*lock);
    here.settle();
    EXPECT_TRUE(lock->done);
    EXPECT_FALSE(server.owner_of("key"));
    server.acknowledge(1);
    here.settle();
    EXPECT_FALSE(lock->made) << "too late";
}

TEST_F(acknowledging, a_client_that_is_closed_meanwhile_leaves_no_key_and_tells) {
    silence();
    const auto lock = start("key", true);
    client.engine->close();
    here.settle();
    ASSERT_TRUE(lock->failed);
    EXPECT_EQ(lock->failed->code, errc::closed);
    EXPECT_FALSE(server.owner_of("key"));
}

TEST_F(acknowledging, a_write_that_was_refused_is_confirmed_by_nothing) {
    silence();
    server.acknowledge(2);
    server.answer("SET", "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
    const auto lock = start("key");
    ASSERT_TRUE(lock->failed) << "what WAIT counts then is an earlier write";
    EXPECT_TRUE(contains(lock->failed->message, "granted, but not acknowledged by its replicas"))
        << lock->failed->message;
    EXPECT_TRUE(contains(lock->failed->message, "OOM")) << lock->failed->message;
    EXPECT_FALSE(server.owner_of("key"));
}

TEST_F(acknowledging, a_right_that_is_missing_is_named) {
    silence();
    server.acknowledge(2);
    server.answer("WAIT", "-NOPERM this user has no permissions to run the 'wait' command\r\n");
    const auto lock = start("key");
    ASSERT_TRUE(lock->failed);
    EXPECT_EQ(lock->failed->code, errc::permission);
    EXPECT_TRUE(contains(lock->failed->message, "'wait'")) << lock->failed->message;
}

TEST_F(acknowledging, a_life_that_ends_between_grant_and_acknowledgement_confirms_nothing) {
    silence();
    const auto lock = start("key");
    server.info = info_of("later", "between");
    server.acknowledge(1);
    here.settle();
    ASSERT_TRUE(lock->failed) << "demoted, resynchronised, promoted: the grant may be gone";
    EXPECT_TRUE(contains(lock->failed->message, "was a replica meanwhile"))
        << lock->failed->message;
    EXPECT_TRUE(client.acquire("key")->made) << "by new connections";
    EXPECT_EQ(server.count("HELLO"), 2);
}

TEST_F(acknowledging, a_master_that_has_become_a_replica_confirms_nothing) {
    silence();
    const auto lock = start("key");
    server.info = "run_id:life-of-redis:6379\r\nrole:slave\r\nmaster_replid:another\r\n";
    server.acknowledge(1);
    here.settle();
    ASSERT_TRUE(lock->failed);
    EXPECT_TRUE(contains(lock->failed->message, "is a replica now")) << lock->failed->message;
}

TEST_F(acknowledging, a_first_replica_that_attaches_meanwhile_does_not_end_the_life) {
    silence();
    const auto lock = start("key");
    server.info = info_of("with-a-replica");
    server.acknowledge(1);
    here.settle();
    EXPECT_TRUE(lock->made);
}

TEST_F(acknowledging, a_server_that_is_emptied_meanwhile_has_granted_nothing) {
    silence();
    const auto lock = start("key");
    EXPECT_EQ(server.count("queue_acquire"), 1);
    server.flush_all();
    here.settle();
    EXPECT_EQ(server.count("queue_acquire"), 2) << "it is asked for anew, on new connections";
    EXPECT_EQ(server.count("HELLO"), 2);
    EXPECT_FALSE(lock->done) << "and that has to be acknowledged, too";
    server.acknowledge(1);
    here.settle();
    EXPECT_TRUE(lock->made);
}

TEST_F(acknowledging, the_two_connections_live_and_die_together) {
    silence();
    server.acknowledge(1);
    for (const std::size_t which : {0U, 1U}) {
        const auto open = server.connections();
        ASSERT_EQ(open.size(), 2U);
        server.kill_connection(*open[which]);
        here.settle();
        EXPECT_TRUE(client.acquire("key")->made);
        for (const auto& each : server.connections()) {
            EXPECT_EQ(std::count(open.begin(), open.end(), each), 0) << which;
        }
    }
}

TEST_F(acknowledging, a_second_connection_to_another_server_is_not_used) {
    server.answer_once("INFO", testing::bulk("redis_version:7.0.15\r\nrun_id:another\r\n"
                                             "role:master\r\nmaster_replid:x\r\n"));
    EXPECT_TRUE(client.acquire("key")->made);
    EXPECT_EQ(server.count("HELLO"), 4) << "both were made anew";
    EXPECT_EQ(server.count("queue_acquire"), 1) << "no vote was asked for before";
}

TEST_F(acknowledging, a_renewal_counts_when_the_replicas_have_it) {
    const auto lock = client.acquire("key", {.ttl = 3s});
    ASSERT_TRUE(lock->made);
    here.run_for(10s);
    EXPECT_FALSE(lock->made->lost());
    EXPECT_GT(server.count("extend"), 5);
    server.silence_replicas();
    const auto until = lock->made->valid_until();
    const auto stop = lock->made->stop_token();
    here.run_until(until - 1ms);
    EXPECT_TRUE(server.owner_of("key")) << "the server goes on granting it";
    EXPECT_EQ(lock->made->valid_until(), until) << "and that does not count";
    EXPECT_TRUE(stop.stop_requested()) << "announced in time";
    here.run_for(2ms);
    EXPECT_TRUE(lock->made->lost());
}

TEST_F(acknowledging, nothing_is_asked_for_where_none_are_wanted) {
    client_in_memory other(here, testing::at({"redis://redis"}), 2);
    ASSERT_TRUE(other.acquire("key")->made);
    EXPECT_EQ(other.around->streams().size(), 1U);
    EXPECT_EQ(server.count("WAIT"), 0);
}

TEST(acknowledging_quorum, a_token_that_was_raised_counts_when_the_replicas_have_it) {
    world here;
    stub_server one(here, "one:6379");
    stub_server two(here, "two:6379");
    stub_server three(here, "three:6379");
    two.counter = 2000;
    three.counter = 5000;
    auto settings = testing::at({"redis://one", "redis://two", "redis://three"});
    settings.replica_acks = replicas::exactly(1);
    settings.node_timeout = 10s;
    client_in_memory client(here, settings);
    const auto all = {&one, &two, &three};
    for (auto* const each : all) each->silence_replicas();
    const auto lock = client.start("key", {}, false);
    here.settle();
    for (auto* const each : all) each->acknowledge(1, false);
    here.settle();
    EXPECT_FALSE(lock->done) << "two servers still have to raise their counters";
    EXPECT_GE(one.count("commit"), 1);
    EXPECT_GE(two.count("commit"), 1);
    one.acknowledge(0);
    two.acknowledge(0);
    here.settle();
    ASSERT_TRUE(lock->failed) << "a token that a fail-over forgets is given once more";
    for (auto* const each : all) EXPECT_FALSE(each->owner_of("key"));
    for (auto* const each : all) each->acknowledge(1);
    EXPECT_TRUE(client.acquire("key")->made);
}

TEST(acks_needed, are_what_makes_a_majority_with_the_master) {
    using net::acks_needed;
    for (const auto& [members, majority, all] :
         {std::array<std::size_t, 3>{1, 0, 0}, std::array<std::size_t, 3>{2, 1, 1},
          std::array<std::size_t, 3>{3, 1, 2}, std::array<std::size_t, 3>{4, 2, 3},
          std::array<std::size_t, 3>{5, 2, 4}, std::array<std::size_t, 3>{7, 3, 6}}) {
        EXPECT_EQ(acks_needed(replicas::majority(), members), majority);
        EXPECT_EQ(acks_needed(std::nullopt, members), majority) << "where nothing is said";
        EXPECT_EQ(acks_needed(replicas::all(), members), all);
        EXPECT_EQ(acks_needed(replicas::exactly(2), members), 2U);
        EXPECT_EQ(acks_needed(replicas::none(), members), 0U);
    }
}

TEST(acks_needed, are_unknown_with_the_size_of_the_group) {
    EXPECT_EQ(net::acks_needed(replicas::majority(), 0), std::nullopt);
    EXPECT_EQ(net::acks_needed(replicas::all(), 0), std::nullopt);
    EXPECT_EQ(net::acks_needed(replicas::exactly(1), 0), 1U);
    EXPECT_EQ(net::acks_needed(std::nullopt, 0), 0U);
}

TEST(replica_acks, are_read_from_the_url) {
    const auto read = [](const std::string& value) {
        return runtime::resolve(testing::at({"redis://a?replica_acks=" + value})).settings;
    };
    EXPECT_EQ(read("2").replica_acks, replicas::exactly(2));
    EXPECT_EQ(read("none").replica_acks, replicas::none());
    EXPECT_EQ(read("0").replica_acks, replicas::none());
    EXPECT_TRUE(*read("2").restart_guard) << "the one is nothing without the other";
    EXPECT_FALSE(*read("none").restart_guard);
    for (const auto* wrong : {"", "most", "-1", "1.5", "101", "1x"}) {
        EXPECT_THROW(read(wrong), std::system_error) << wrong;
    }
}

TEST(replica_acks, of_a_group_of_unknown_size_are_refused_and_it_says_what_to_write) {
    for (const auto how : {replicas::majority(), replicas::all()}) {
        auto settings = testing::at({"redis://a"});
        settings.replica_acks = how;
        try {
            (void)runtime::resolve(settings);
            FAIL() << "a majority of what?";
        } catch (const std::system_error& thrown) {
            EXPECT_EQ(thrown.code(), errc::invalid_option);
            EXPECT_TRUE(contains(thrown.what(), "replica_acks=1")) << thrown.what();
        }
    }
}

TEST(replica_acks, of_a_cluster_need_no_number_since_it_tells_how_many_servers_a_shard_has) {
    for (const auto* how : {"majority", "all", "1", "none"}) {
        const auto url = "redis+cluster://a,b?replica_acks=" + std::string(how);
        const auto all = runtime::resolve(testing::at({url}));
        EXPECT_TRUE(all.settings.replica_acks) << how;
        EXPECT_TRUE(*all.settings.restart_guard) << how;
    }
    const auto unsaid = runtime::resolve(testing::at({"redis+cluster://a,b"}));
    EXPECT_EQ(unsaid.settings.replica_acks, std::nullopt);
    EXPECT_TRUE(*unsaid.settings.restart_guard);
}

}  // namespace
}  // namespace holdfast
