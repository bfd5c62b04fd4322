// A server with replicas, and as one: what it answers, beside a real one, and what becomes of data.

#include <gtest/gtest.h>

#include <utility>

#include "sim/test/both_servers.hpp"

namespace holdfast::sim {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr keyspace::wall_time now{1'700'000'000'000'000};

// Whatever a server sends to its replicas, in order.
class notes final : public replication_feed {
  public:
    void carry(const transaction_pointer& next) override { sent.push_back(next); }
    void ask_for_acknowledgements() override { ++asked; }

    std::vector<transaction_pointer> sent;
    unsigned asked = 0;
};

class waiting : public testing::Test {
  protected:
    waiting() { servers.ours().feed(&to_replicas); }

    // A connection that speaks as a replica does, to the real one; ours is told.
    void attach() {
        replica.send(encoded({{"PSYNC", "?", "-1"}}));
        replica.receive_until(std::string("\xff\0\0\0\0\0\0\0\0", 9));
        servers.ours().attach_replica(1, "replica");
    }
    void acknowledge(std::size_t who) {
        const auto info = servers.ask_real(who, {"INFO", "replication"});
        const std::string name = "master_repl_offset:";
        const auto at = info.find(name) + name.size();
        replica.send(encoded({{"REPLCONF", "ACK", info.substr(at, info.find('\r', at) - at)}}));
        servers.ours().acknowledged(1, servers.ours().offset(), wall_clock_now());
    }

    both_servers servers{{"--databases", "1", "--repl-diskless-sync", "no", "--rdbchecksum", "no"}};
    notes to_replicas;
    raw_connection replica{servers.real().socket()};
    const std::size_t first = servers.connect();
    const std::size_t second = servers.connect();
};

TEST_F(waiting, takes_the_arguments_that_a_real_server_takes) {
    servers.ask(first, {{"WAIT", "0", "0"}, {"WAIT", "0", "10"}, {"WAIT", "-1", "0"}});
    servers.ask(first, {{"WAIT", "x", "0"}, {"WAIT", "0", "x"}, {"WAIT", "0", "-1"}, {"WAIT"}});
    servers.ask(first, {{"WAIT", "1.5", "0"}, {"WAIT", "0", "0", "0"}});
}

TEST_F(waiting, ends_in_time_with_what_there_is) {
    servers.send_and_end_waits(first, {{"SET", "k", "v"}, {"WAIT", "1", "20"}, {"GET", "k"}});
}

TEST_F(waiting, keeps_all_that_follows_until_a_replica_has_acknowledged) {
    attach();
    servers.begin(first, {{"SET", "k", "v"}, {"WAIT", "1", "20000"}, {"GET", "k"}, {"PING"}});
    servers.ask(second, {{"GET", "k"}});
    acknowledge(second);
    servers.finish();
    servers.ask(first, {{"WAIT", "1", "0"}, {"WAIT", "0", "0"}});
}

TEST_F(waiting, is_not_for_replicas) {
    servers.ask_real(first, {"REPLICAOF", "127.0.0.1", "1"});
    servers.ours().follow("127.0.0.1", 1);
    servers.ask(first, {{"WAIT", "0", "0"}, {"WAIT", "x", "0"}});
}

TEST_F(waiting, ends_with_the_connection_where_a_master_is_made_a_replica) {
    servers.begin(first, {{"WAIT", "1", "0"}, {"PING"}});
    servers.ask_real(second, {"REPLICAOF", "127.0.0.1", "1"});
    servers.ours().follow("127.0.0.1", 1);
    servers.compare_closed(first);
}

TEST_F(waiting, shows_a_replica_in_info_as_a_real_server_does) {
    attach();
    servers.ask(first, {{"SET", "k", "v"}});
    acknowledge(second);
    servers.ask(first, {{"INFO", "replication"}}, mask::offsets);
}

struct pair_of_servers {
    recorder out;
    script_library scripts;
    notes stream;
    notes of_replica;
    server master{out, scripts, {}, 1};
    server replica{out, scripts, {}, 2};

    pair_of_servers() {
        master.feed(&stream);
        replica.feed(&of_replica);
        replica.follow("master");
        master.attach_replica(7, "replica");
        replica.load(master.take_snapshot());
    }
    std::string ask(server& whom, const command& words, keyspace::wall_time at = now) {
        const auto by = whom.open();
        whom.receive(by, encoded({words}), at);
        whom.close(by);
        return std::exchange(out.written[by], {});
    }
    void deliver() {
        for (const auto& each : std::exchange(stream.sent, {})) replica.apply(each);
    }
};

TEST(replication, brings_what_has_changed_and_nothing_else) {
    pair_of_servers both;
    both.ask(both.master, {"SET", "k", "v", "PX", "1000"});
    both.ask(both.master, {"RPUSH", "l", "a", "b"});
    both.ask(both.master, {"GET", "k"});
    both.ask(both.master, {"SET", "k", "w", "NX"});
    EXPECT_EQ(both.stream.sent.size(), 2U);
    EXPECT_EQ(both.replica.data().peek("k", now), nullptr);
    both.deliver();
    EXPECT_EQ(both.replica.data().entries(), both.master.data().entries());
    EXPECT_EQ(both.replica.offset(), both.master.offset());
}

TEST(replication, brings_what_a_script_has_done_as_a_whole) {
    pair_of_servers both;
    both.ask(both.master,
             {"EVAL", "redis.call('SET', 'a', 1) redis.call('SET', 'b', 2) return 1", "0"});
    ASSERT_EQ(both.stream.sent.size(), 1U);
    both.deliver();
    EXPECT_EQ(both.replica.data().entries().size(), 2U);
}

TEST(replication, brings_the_end_of_what_has_expired) {
    pair_of_servers both;
    both.ask(both.master, {"SET", "k", "v", "PX", "1"});
    both.deliver();
    both.replica.expire(now + hours(1));
    EXPECT_EQ(both.replica.data().entries().size(), 1U) << "its master tells it";
    both.master.expire(now + hours(1));
    both.deliver();
    EXPECT_TRUE(both.replica.data().entries().empty());
}

TEST(replication, empties_the_replica_with_its_master) {
    pair_of_servers both;
    const auto listens = both.replica.open();
    both.replica.receive(listens, encoded({{"HELLO", "3"}, {"CLIENT", "TRACKING", "ON"}}), now);
    both.ask(both.master, {"SET", "k", "v"});
    both.deliver();
    both.out.written.clear();
    both.ask(both.master, {"FLUSHALL"});
    both.deliver();
    EXPECT_TRUE(both.replica.data().entries().empty());
    EXPECT_EQ(both.out.written[listens], ">2\r\n$10\r\ninvalidate\r\n_\r\n");
}

TEST(replication, goes_on_where_a_replica_that_was_promoted_has_all_that_its_master_had) {
    pair_of_servers both;
    both.ask(both.master, {"SET", "k", "v"});
    both.deliver();
    both.replica.promote();
    both.ask(both.replica, {"SET", "k", "w"});
    both.master.follow("replica");
    const auto missing = both.replica.continue_from(both.master.present_life().replication_id(),
                                                    both.master.offset());
    ASSERT_TRUE(missing);
    EXPECT_EQ(missing->size(), 1U);
}

TEST(replication, begins_anew_where_the_old_master_went_on) {
    pair_of_servers both;
    both.ask(both.master, {"SET", "k", "v"});
    both.replica.promote();
    both.master.follow("replica");
    EXPECT_FALSE(both.replica.continue_from(both.master.present_life().replication_id(),
                                            both.master.offset()));
    both.master.load(both.replica.take_snapshot());
    EXPECT_TRUE(both.master.data().entries().empty());
    EXPECT_FALSE(both.master.present_life().has_second_id());
}

TEST(replication, begins_anew_where_the_backlog_does_not_reach_back) {
    pair_of_servers both;
    both.master.keep_backlog_of(1);
    for (const auto* const value : {"1", "2", "3"}) both.ask(both.master, {"SET", "k", value});
    const auto& id = both.master.present_life().replication_id();
    EXPECT_FALSE(both.master.continue_from(id, 0));
    EXPECT_TRUE(both.master.continue_from(id, 2));
}

}  // namespace
}  // namespace holdfast::sim
