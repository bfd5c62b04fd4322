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

TEST_F(cluster, a_slot_is_enlisted_again_for_every_connection) {
    client_in_memory by(in, settings);
    (void)by.acquire(key_at_one());
    one.kill_connections();
    in.settle();
    ASSERT_TRUE(by.acquire("{" + key_at_one() + "}")->made);
    EXPECT_EQ(one.count("enlist"), 2);
}

}  // namespace
}  // namespace holdfast::testing
