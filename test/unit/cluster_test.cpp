#include <gtest/gtest.h>

#include <algorithm>

#include "core/hash_slot.hpp"
#include "net/enlisting.hpp"
#include "unit/support/client_in_memory.hpp"
#include "unit/support/stub_server.hpp"

// A client of a Cluster of two masters, without servers or sleeping.

namespace holdfast::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t half = core::slot_count / 2;

std::string range(int first, int last, const std::string& host) {
    return "*3\r\n:" + std::to_string(first) + "\r\n:" + std::to_string(last) + "\r\n*2\r\n" +
           bulk(host) + ":6379\r\n";
}

/// Slots up to `first_of_two` are at one, the others at two.
std::string map_with(int first_of_two) {
    const int last = static_cast<int>(core::slot_count) - 1;
    if (first_of_two == 0) return "*1\r\n" + range(0, last, "two");
    if (first_of_two > last) return "*1\r\n" + range(0, last, "one");
    return "*2\r\n" + range(0, first_of_two - 1, "one") + range(first_of_two, last, "two");
}

/// A key that is served by one, and by two.
std::string key_at_one(int which = 0) {
    for (int n = 0;; ++n) {
        const auto key = "k" + std::to_string(n);
        if (core::hash_slot(key) < half && which-- == 0) return key;
    }
}
std::string key_at_two() {
    for (int n = 0;; ++n) {
        const auto key = "k" + std::to_string(n);
        if (core::hash_slot(key) >= half) return key;
    }
}

std::string record_of(const std::string& key) { return net::slot_record_key(core::hash_slot(key)); }

class cluster : public ::testing::Test {
  protected:
    cluster() {
        share(half);
        settings = at({"redis+cluster://one"});
        settings.restart_guard = false;
        settings.replica_acks = replicas::none();
        settings.patience = 0ms;
    }

    void share(int first_of_two) {
        for (auto* const server : {&one, &two}) server->answer("SLOTS", map_with(first_of_two));
    }

    /// Where `what` was first asked among all that it was asked.
    static std::ptrdiff_t first(const stub_server& of, const std::string& what) {
        return std::find(of.asked().begin(), of.asked().end(), what) - of.asked().begin();
    }

    std::string redirect(const std::string& how, const std::string& key) {
        return "-" + how + " " + std::to_string(core::hash_slot(key)) + " two:6379\r\n";
    }

    world in;
    stub_server one{in, "one:6379"};
    stub_server two{in, "two:6379"};
    options settings;
};

TEST_F(cluster, keys_are_locked_at_the_server_of_their_slot) {
    client_in_memory by(in, settings);
    const auto first = by.acquire(key_at_one());
    const auto second = by.acquire(key_at_two());
    ASSERT_TRUE(first->made && second->made);
    EXPECT_TRUE(one.owner_of(key_at_one()));
    EXPECT_TRUE(two.owner_of(key_at_two()));
    EXPECT_EQ(one.connections().size(), 1U);
    EXPECT_EQ(two.connections().size(), 1U);
}

TEST_F(cluster, a_slot_is_enlisted_before_anything_is_asked_of_it_and_once) {
    client_in_memory by(in, settings);
    (void)by.acquire(key_at_one(0));
    EXPECT_LT(first(one, "enlist"), first(one, "queue_acquire"));
    EXPECT_EQ(one.latest("enlist")[2], "1");
    EXPECT_EQ(one.latest("enlist")[3], record_of(key_at_one(0)));
    (void)by.acquire("{" + key_at_one(0) + "}:another");
    EXPECT_EQ(one.count("enlist"), 1) << "the same slot";
    (void)by.acquire(key_at_one(1));
    EXPECT_EQ(one.count("enlist"), 2) << "another slot";
}

TEST_F(cluster, who_waits_is_called_by_a_channel_in_the_slot) {
    client_in_memory by(in, settings);
    one.answer("SSUBSCRIBE", ">3\r\n" + bulk("ssubscribe") + bulk("c") + ":1\r\n");
    one.put(key_at_one(), "another", 60s);
    const auto got = by.start(key_at_one());
    in.settle();
    ASSERT_EQ(one.line_of(key_at_one()).size(), 1U);
    const auto channel = one.latest("SSUBSCRIBE")[1];
    EXPECT_EQ(core::hash_slot(channel), core::hash_slot(key_at_one()));
    EXPECT_TRUE(one.line_of(key_at_one())[0].starts_with(channel + " "));
    EXPECT_EQ(one.count("SUBSCRIBE"), 0);
}

// Before Redis 7 there are no channels of a slot.
TEST_F(cluster, who_waits_is_called_by_a_channel_of_all_servers_where_they_know_no_other) {
    client_in_memory by(in, settings);
    one.answer("SSUBSCRIBE", "-ERR unknown command `SSUBSCRIBE`, with args beginning with:\r\n");
    one.put(key_at_one(), "another", 60s);
    const auto got = by.start(key_at_one());
    in.settle();
    ASSERT_EQ(one.line_of(key_at_one()).size(), 1U);
    const auto channel = one.latest("SUBSCRIBE")[1];
    EXPECT_EQ(channel.find('{'), channel.npos) << "scripts would call it within the shard";
    EXPECT_TRUE(one.line_of(key_at_one())[0].starts_with(channel + " "));
    EXPECT_LT(first(one, "SUBSCRIBE"), first(one, "queue_acquire"));
    one.erase(key_at_one());
    EXPECT_LE(one.count("enlist"), 2);
}

TEST_F(cluster, a_slot_that_was_moved_is_enlisted_where_it_is_before_it_is_asked_again) {
    client_in_memory by(in, settings);
    one.answer("queue_acquire", redirect("MOVED", key_at_one()));
    const auto got = by.acquire(key_at_one());
    ASSERT_TRUE(got->made);
    EXPECT_TRUE(two.owner_of(key_at_one()));
    EXPECT_LT(first(two, "enlist"), first(two, "queue_acquire"));
    EXPECT_EQ(one.count("queue_acquire"), 1);
}

TEST_F(cluster, a_slot_that_was_moved_before_it_was_enlisted_is_followed) {
    client_in_memory by(in, settings);
    one.answer("enlist", redirect("MOVED", key_at_one()));
    const auto got = by.acquire(key_at_one());
    ASSERT_TRUE(got->made);
    EXPECT_EQ(one.count("queue_acquire"), 0);
    EXPECT_TRUE(two.owner_of(key_at_one()));
}

TEST_F(cluster, servers_that_send_one_to_each_other_do_so_a_few_times_only) {
    client_in_memory by(in, settings);
    one.answer("enlist", redirect("MOVED", key_at_one()));
    two.answer("enlist", "-MOVED 1 one:6379\r\n");
    const auto got = by.acquire(key_at_one());
    EXPECT_TRUE(got->failed);
    EXPECT_LT(one.count("enlist") + two.count("enlist"), 40);
}

TEST_F(cluster, a_vote_is_not_asked_for_where_the_slot_has_not_arrived) {
    client_in_memory by(in, settings);
    one.answer("queue_acquire", redirect("ASK", key_at_one()));
    const auto got = by.acquire(key_at_one(), {}, false);
    EXPECT_TRUE(got->done && !got->made && !got->failed) << "contended";
    EXPECT_EQ(two.count("queue_acquire"), 0);
    EXPECT_EQ(two.count("enlist"), 0);
}

TEST_F(cluster, a_slot_that_is_being_moved_is_waited_for_without_patience) {
    client_in_memory by(in, settings);
    one.answer("queue_acquire", "-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
    const auto got = by.start(key_at_one());
    in.run_for(2s);
    EXPECT_FALSE(got->done);
    one.answer_as_usual("queue_acquire");
    in.run_for(1s);
    ASSERT_TRUE(got->done && got->made);
}

TEST_F(cluster, a_slot_whose_record_is_on_the_way_gives_no_votes_until_it_has_arrived) {
    client_in_memory by(in, settings);
    one.answer("enlist", redirect("ASK", key_at_one()));
    const auto got = by.start(key_at_one());
    in.run_for(2s);
    EXPECT_FALSE(got->done);
    EXPECT_EQ(one.count("queue_acquire") + two.count("queue_acquire"), 0);
    EXPECT_EQ(two.count("enlist"), 0) << "its record would not arrive";
    one.answer_as_usual("enlist");
    in.run_for(1s);
    ASSERT_TRUE(got->done && got->made);
}

TEST_F(cluster, a_renewal_that_is_to_try_again_names_the_lock_alone) {
    client_in_memory by(in, settings);
    const auto got = by.acquire(key_at_one(), {.ttl = 3s});
    ASSERT_TRUE(got->made);
    one.answer_once("extend", "-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
    in.run_for(1500ms);
    EXPECT_EQ(one.count("extend"), 2);
    EXPECT_EQ(one.latest("extend")[2], "1");
    EXPECT_GT(got->made->valid_until(), in.now() + 2s);
}

TEST_F(cluster, a_renewal_is_asked_for_where_the_lock_has_been_moved_to) {
    client_in_memory by(in, settings);
    const auto got = by.acquire(key_at_one(), {.ttl = 3s});
    ASSERT_TRUE(got->made);
    two.put(key_at_one(), *one.owner_of(key_at_one()), 3s);
    one.answer("extend", redirect("ASK", key_at_one()));
    in.run_for(1500ms);
    EXPECT_GE(two.count("ASKING"), 1);
    EXPECT_EQ(two.count("ASKING"), two.count("extend"));
    EXPECT_GT(got->made->valid_until(), in.now() + 2s);
}

// Up to Redis 6.2 a server that misses any of the keys sends one on, also if it has the lock; where
// the slot goes to, one key alone that has not arrived counts as gone.
TEST_F(cluster, a_lock_that_has_not_been_moved_yet_is_renewed_where_it_is) {
    client_in_memory by(in, settings);
    const auto got = by.acquire(key_at_one(), {.ttl = 3s});
    ASSERT_TRUE(got->made);
    one.answer_once("extend", redirect("ASK", key_at_one()));
    two.answer_once("extend", "-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
    in.run_for(1500ms);
    EXPECT_EQ(two.count("extend"), 1);
    EXPECT_EQ(one.latest("extend")[2], "1");
    EXPECT_FALSE(got->made->lost());
    EXPECT_GT(got->made->valid_until(), in.now() + 2s);
}

TEST_F(cluster, a_release_that_is_to_try_again_names_the_lock_alone) {
    client_in_memory by(in, settings);
    auto got = by.acquire(key_at_one());
    ASSERT_TRUE(got->made);
    one.answer("queue_release", "-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
    got->made->release();
    in.settle();
    EXPECT_FALSE(one.owner_of(key_at_one()));
    EXPECT_EQ(one.latest("release")[2], "1");
}

TEST_F(cluster, a_cluster_that_is_down_is_an_outage) {
    client_in_memory by(in, settings);
    one.answer("queue_acquire", "-CLUSTERDOWN The cluster is down\r\n");
    const auto got = by.acquire(key_at_one());
    ASSERT_TRUE(got->failed);
    EXPECT_NE(got->failed->message.find("CLUSTERDOWN"), std::string::npos) << got->failed->message;
    in.run_for(1s);
    EXPECT_GT(one.count("SLOTS") + two.count("SLOTS"), 1) << "the map is asked for again";
}

TEST_F(cluster, a_slot_whose_record_changed_is_enlisted_again) {
    client_in_memory by(in, settings);
    (void)by.acquire(key_at_one());
    one.connections().front()->say(invalidation({record_of(key_at_one())}));
    in.settle();
    EXPECT_EQ(one.count("enlist"), 1);
    (void)by.acquire("{" + key_at_one() + "}");
    EXPECT_EQ(one.count("enlist"), 2);
}

TEST_F(cluster, a_grant_behind_the_word_that_the_record_changed_does_not_count) {
    client_in_memory by(in, settings);
    (void)by.acquire("{" + key_at_one() + "}");
    one.answer_once("queue_acquire",
                    invalidation({record_of(key_at_one())}) + "*2\r\n:1\r\n:1005\r\n");
    const auto got = by.acquire(key_at_one());
    ASSERT_TRUE(got->made);
    EXPECT_EQ(one.count("enlist"), 2);
    EXPECT_EQ(one.count("queue_acquire"), 3);
    EXPECT_TRUE(one.owner_of(key_at_one()));
}

TEST_F(cluster, slots_are_in_quarantine_each_by_itself) {
    settings.restart_guard = true;
    settings.max_ttl = 30s;
    client_in_memory by(in, settings);
    one.answer_once("enlist", "*5\r\n:1\r\n:31000\r\n:1000\r\n:30000\r\n:1700000000000000\r\n");
    one.enlisted = "*5\r\n:0\r\n:0\r\n:1000\r\n:30000\r\n:1700000000000000\r\n";
    const auto kept = by.acquire(key_at_one(0), {.ttl = 5s}, false);
    EXPECT_TRUE(!kept->made && !kept->failed);
    EXPECT_EQ(one.count("queue_acquire"), 0);
    EXPECT_TRUE(by.acquire(key_at_one(1), {.ttl = 5s}, false)->made);
}

TEST_F(cluster, a_slot_is_looked_for_elsewhere_when_its_server_is_gone) {
    settings.patience = 10s;
    client_in_memory by(in, settings);
    (void)by.acquire(key_at_one());
    (void)by.acquire(key_at_two());
    one.stop();
    const auto got = by.start("{" + key_at_one() + "}");
    in.run_for(1s);
    EXPECT_FALSE(got->done);
    share(0);
    in.run_for(1s);
    ASSERT_TRUE(got->done && got->made);
    EXPECT_TRUE(two.owner_of("{" + key_at_one() + "}"));
}

TEST_F(cluster, the_map_is_not_asked_for_all_the_time_while_a_server_is_gone) {
    settings.patience = 100s;
    client_in_memory by(in, settings);
    (void)by.acquire(key_at_two());
    one.stop();
    two.forget_asked();
    const auto got = by.start(key_at_one());
    in.run_for(10s);
    EXPECT_FALSE(got->done);
    EXPECT_LE(two.count("SLOTS"), 100);
    EXPECT_GE(two.count("SLOTS"), 10);
}

// It was taken out of the Cluster, or has forgotten it.
TEST_F(cluster, a_seed_that_knows_of_no_slot_is_passed_over) {
    settings = at({"redis+cluster://one,two"});
    settings.restart_guard = false;
    settings.replica_acks = replicas::none();
    share(0);
    one.answer("SLOTS", "*0\r\n");
    client_in_memory by(in, settings);
    const auto got = by.acquire(key_at_one());
    ASSERT_TRUE(got->made);
    EXPECT_TRUE(two.owner_of(key_at_one()));
}

TEST_F(cluster, what_is_known_is_not_forgotten_for_a_server_that_knows_of_no_slot) {
    settings.patience = 10s;
    client_in_memory by(in, settings);
    (void)by.acquire(key_at_one());
    (void)by.acquire(key_at_two());
    one.answer("SLOTS", "*0\r\n");
    two.answer("SLOTS", "*0\r\n");
    one.answer_once("queue_acquire", "-CLUSTERDOWN The cluster is down\r\n");
    ASSERT_TRUE(by.acquire("{" + key_at_one() + "}")->made);
    in.run_for(1s);  // the map is asked for
    ASSERT_TRUE(by.acquire(key_at_one(1))->made) << "of a slot that was not used before";
}

// A master that was replaced, and has not heard of it: it names itself for ever.
TEST_F(cluster, a_server_whose_map_leads_nowhere_is_not_the_only_one_to_be_asked) {
    settings.patience = 10s;
    client_in_memory by(in, settings);
    (void)by.acquire(key_at_one());
    (void)by.acquire(key_at_two());
    two.answer("SLOTS", map_with(0));
    for (const auto* what : {"enlist", "queue_acquire"}) {
        one.answer(what, "-CLUSTERDOWN The cluster is down\r\n");
    }
    const auto got = by.start("{" + key_at_one() + "}");
    in.run_for(3s);
    ASSERT_TRUE(got->done && got->made);
    EXPECT_TRUE(two.owner_of("{" + key_at_one() + "}"));
}

TEST_F(cluster, a_server_whose_map_leads_nowhere_is_not_the_only_one_that_is_connected_to) {
    settings.patience = 10s;
    client_in_memory by(in, settings);
    (void)by.acquire(key_at_one());
    ASSERT_EQ(two.connections().size(), 0U);
    two.answer("SLOTS", map_with(0));
    for (const auto* what : {"enlist", "queue_acquire"}) {
        one.answer(what, "-CLUSTERDOWN The cluster is down\r\n");
    }
    const auto got = by.start("{" + key_at_one() + "}");
    in.run_for(3s);
    ASSERT_TRUE(got->done && got->made);
    EXPECT_TRUE(two.owner_of("{" + key_at_one() + "}"));
}

TEST_F(cluster, a_slot_is_enlisted_again_for_every_connection) {
    client_in_memory by(in, settings);
    (void)by.acquire(key_at_one());
    one.kill_connections();
    in.settle();
    ASSERT_TRUE(by.acquire("{" + key_at_one() + "}")->made);
    EXPECT_EQ(one.count("enlist"), 2);
}

/// `%2` of strings and of whole frames.
std::string member(const std::string& host, const std::string& role, const std::string& health) {
    return "%5\r\n" + bulk("id") + bulk("id-of-" + host) + bulk("port") + ":6379\r\n" +
           bulk("endpoint") + bulk(host) + bulk("role") + bulk(role) + bulk("health") +
           bulk(health);
}

std::string shard(int first, int last, const std::vector<std::string>& members) {
    auto text = "%2\r\n" + bulk("slots") + "*2\r\n:" + std::to_string(first) +
                "\r\n:" + std::to_string(last) + "\r\n" + bulk("nodes") + "*" +
                std::to_string(members.size()) + "\r\n";
    for (const auto& each : members) text += each;
    return text;
}

/// So many servers in the shard of each master; the last of the first one's is down.
std::string shards_of(std::size_t at_one, std::size_t at_two) {
    const auto all = [](const std::string& master, std::size_t count) {
        std::vector<std::string> members{member(master, "master", "online")};
        for (std::size_t n = 1; n < count; ++n) {
            members.push_back(
                member(master + std::to_string(n), "replica", n + 1 < count ? "online" : "fail"));
        }
        return members;
    };
    return "*2\r\n" + shard(0, half - 1, all("one", at_one)) +
           shard(half, static_cast<int>(core::slot_count) - 1, all("two", at_two));
}

class acknowledged_cluster : public cluster {
  protected:
    acknowledged_cluster() {
        settings.replica_acks.reset();  // what is not said
        size(3, 5);
    }

    void size(std::size_t at_one, std::size_t at_two) {
        for (auto* const server : {&one, &two}) server->answer("SHARDS", shards_of(at_one, at_two));
    }

    /// What the latest enlisting said: how many servers, how many replicas, whether they know.
    static stub_server::words group_in(const stub_server& of) {
        const auto& said = of.latest("enlist");
        return {said[9], said[10], said[11]};
    }
};

const std::string noted_only = "*5\r\n:3\r\n:0\r\n:0\r\n:60000\r\n:1700000000000000\r\n";

std::string agreed_on(int members) {
    return "*5\r\n:4\r\n:0\r\n:" + std::to_string(members) + "\r\n:60000\r\n:1700000000000000\r\n";
}

TEST_F(acknowledged_cluster, a_grant_counts_when_a_majority_of_its_shard_has_it) {
    client_in_memory by(in, settings);
    ASSERT_TRUE(by.acquire("{" + key_at_one() + "}")->made);
    one.silence_replicas();
    const auto got = by.start(key_at_one());
    in.settle();
    EXPECT_TRUE(one.owner_of(key_at_one()));
    EXPECT_FALSE(got->done);
    one.acknowledge(1);
    in.settle();
    ASSERT_TRUE(got->done && got->made);
    EXPECT_EQ(one.latest("WAIT")[1], "1") << "of three, one of which is down";
    ASSERT_TRUE(by.acquire(key_at_two())->made);
    EXPECT_EQ(two.latest("WAIT")[1], "2") << "of five";
    EXPECT_EQ(one.connections().size(), 2U);
    EXPECT_EQ(two.connections().size(), 2U);
}

TEST_F(acknowledged_cluster, a_grant_that_too_few_have_is_released_and_why_is_said) {
    client_in_memory by(in, settings);
    one.replicas = 0;
    const auto got = by.acquire(key_at_one());
    ASSERT_TRUE(got->failed);
    EXPECT_NE(got->failed->message.find("acknowledged by 0 of the 1"), std::string::npos)
        << got->failed->message;
    in.settle();
    EXPECT_FALSE(one.owner_of(key_at_one()));
}

// It may have been replaced, and not have heard of it.
TEST_F(acknowledged_cluster, after_a_grant_that_too_few_have_others_are_asked_who_serves_the_slot) {
    settings.patience = 10s;
    client_in_memory by(in, settings);
    ASSERT_TRUE(by.acquire("{" + key_at_one() + "}")->made);
    one.replicas = 0;
    two.answer("SLOTS", map_with(0));
    const auto got = by.start(key_at_one());
    in.run_for(5s);
    ASSERT_TRUE(got->done && got->made);
    EXPECT_TRUE(two.owner_of(key_at_one()));
}

TEST_F(acknowledged_cluster, what_is_written_for_it_is_in_a_slot_of_that_server) {
    client_in_memory by(in, settings);
    ASSERT_TRUE(by.acquire(key_at_one())->made);
    ASSERT_TRUE(by.acquire(key_at_two())->made);
    EXPECT_LT(core::hash_slot(one.latest("SET")[1]), half);
    EXPECT_GE(core::hash_slot(two.latest("SET")[1]), half);
}

TEST_F(acknowledged_cluster, another_slot_is_written_where_that_one_is_being_moved) {
    client_in_memory by(in, settings);
    ASSERT_TRUE(by.acquire(key_at_one(0))->made);
    const auto before = one.latest("SET")[1];
    one.answer_once("SET", redirect("ASK", key_at_one()));
    ASSERT_TRUE(by.acquire(key_at_one(1))->made);
    EXPECT_NE(one.latest("SET")[1], before);
    EXPECT_LT(core::hash_slot(one.latest("SET")[1]), half);
    one.answer("SET", redirect("MOVED", key_at_one()));
    EXPECT_TRUE(by.acquire(key_at_one(2))->failed) << "and not for ever";
}

// A master that was replaced meanwhile would go on sending its clients there.
TEST_F(acknowledged_cluster,
       a_renewal_where_the_lock_has_been_moved_to_is_acknowledged_in_both_shards) {
    client_in_memory by(in, settings);
    const auto got = by.acquire(key_at_one(), {.ttl = 3s});
    ASSERT_TRUE(got->made);
    two.put(key_at_one(), *one.owner_of(key_at_one()), 3s);
    one.answer("extend", redirect("ASK", key_at_one()));
    one.forget_asked();
    in.run_for(1500ms);
    EXPECT_GE(two.count("extend"), 1);
    EXPECT_EQ(two.count("WAIT"), two.count("extend"));
    EXPECT_EQ(one.count("WAIT"), two.count("extend"));
    EXPECT_EQ(one.latest("WAIT")[1], "1");
    EXPECT_EQ(two.latest("WAIT")[1], "2") << "of their five";
    EXPECT_GT(got->made->valid_until(), in.now() + 2s);
    for (auto* const server : {&one, &two}) {
        const auto valid = got->made->valid_until();
        server->replicas = 0;
        in.run_for(1100ms);
        EXPECT_EQ(got->made->valid_until(), valid);
        server->replicas = 2;
        in.run_for(500ms);
        EXPECT_GT(got->made->valid_until(), valid);
    }
}

// A master that was added serves nothing at first.
TEST_F(acknowledged_cluster, where_nothing_is_served_yet_the_slot_that_arrives_is_written) {
    share(static_cast<int>(core::slot_count));
    client_in_memory by(in, settings);
    const auto got = by.acquire(key_at_one(), {.ttl = 3s});
    ASSERT_TRUE(got->made);
    two.put(key_at_one(), *one.owner_of(key_at_one()), 3s);
    one.answer("extend", redirect("ASK", key_at_one()));
    in.run_for(1500ms);
    EXPECT_EQ(two.count("ASKING"), two.count("extend") + two.count("SET"));
    EXPECT_EQ(core::hash_slot(two.latest("SET")[1]), core::hash_slot(key_at_one()));
    EXPECT_NE(two.latest("SET")[1], one.latest("SET")[1]) << "which may be moved, too";
    EXPECT_GT(got->made->valid_until(), in.now() + 2s);
}

TEST_F(acknowledged_cluster, a_quarantine_begins_when_the_replicas_know_that_the_life_is_noted) {
    settings.restart_guard = true;
    client_in_memory by(in, settings);
    one.answer_once("enlist", noted_only);
    one.silence_replicas();
    const auto got = by.start(key_at_one());
    in.settle();
    EXPECT_EQ(one.count("enlist"), 1);
    EXPECT_EQ(group_in(one), (stub_server::words{"3", "1", "0"}));
    one.acknowledge(1);
    in.settle();
    EXPECT_EQ(one.count("enlist"), 2);
    EXPECT_EQ(group_in(one), (stub_server::words{"3", "1", "1"}));
    EXPECT_TRUE(got->made);
}

TEST_F(acknowledged_cluster, a_slot_whose_note_is_not_acknowledged_gives_no_votes) {
    settings.restart_guard = true;
    client_in_memory by(in, settings);
    one.answer("enlist", noted_only);
    one.replicas = 0;
    const auto got = by.acquire(key_at_one());
    EXPECT_TRUE(got->failed);
    EXPECT_EQ(one.count("queue_acquire"), 0);
}

// One that was replaced, and is down, is in no shard: the record remembers it.
TEST_F(acknowledged_cluster, the_larger_group_of_the_record_counts) {
    client_in_memory by(in, settings);
    one.answer_once("enlist", agreed_on(5));
    ASSERT_TRUE(by.acquire(key_at_one())->made);
    EXPECT_EQ(group_in(one), (stub_server::words{"5", "2", "0"}));
    EXPECT_EQ(one.latest("WAIT")[1], "2");
}

TEST_F(acknowledged_cluster,
       in_a_shard_that_has_grown_so_many_are_needed_that_all_majorities_meet) {
    client_in_memory by(in, settings);
    one.answer("enlist", "*6\r\n:0\r\n:0\r\n:1000\r\n:60000\r\n:1700000000000000\r\n:1\r\n");
    ASSERT_TRUE(by.acquire(key_at_one())->made);
    EXPECT_EQ(group_in(one), (stub_server::words{"3", "1", "0"})) << "the record stays as it is";
    EXPECT_EQ(one.latest("WAIT")[1], "2");
}

TEST_F(acknowledged_cluster, without_the_size_of_a_shard_a_number_has_to_be_given) {
    for (auto* const server : {&one, &two}) {
        server->answer("SHARDS", "-ERR Unknown subcommand or wrong number of arguments\r\n");
    }
    client_in_memory by(in, settings);
    const auto got = by.acquire(key_at_one());
    ASSERT_TRUE(got->failed);
    EXPECT_NE(got->failed->message.find("whose size is not known"), std::string::npos);
    settings.replica_acks = replicas::exactly(1);
    client_in_memory other(in, settings);
    EXPECT_TRUE(other.acquire(key_at_one())->made);
    EXPECT_EQ(group_in(one), (stub_server::words{"0", "1", "0"}));
}

TEST_F(acknowledged_cluster, a_shard_that_is_not_in_the_map_yet_is_asked_for_its_size_first) {
    share(static_cast<int>(core::slot_count));
    one.answer("SHARDS", "*1\r\n" + shard(0, static_cast<int>(core::slot_count) - 1,
                                          {member("one", "master", "online")}));
    client_in_memory by(in, settings);
    ASSERT_TRUE(by.acquire("{" + key_at_one() + "}")->made);
    share(0);
    size(3, 5);
    one.answer("queue_acquire", redirect("MOVED", key_at_one()));
    const auto got = by.start(key_at_one());
    in.run_for(1s);
    ASSERT_TRUE(got->done && got->made);
    EXPECT_EQ(group_in(two), (stub_server::words{"5", "2", "0"}));
}

}  // namespace
}  // namespace holdfast::testing
