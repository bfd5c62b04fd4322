#include "net/handshake.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "kinds/exclusive.hpp"
#include "net/explain.hpp"

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;

constexpr auto hello_reply = "%1\r\n$5\r\nproto\r\n:3\r\n";
constexpr auto known_life = "*5\r\n:0\r\n:0\r\n:1700000000000000\r\n:0\r\n:1700000001000000\r\n";

std::string bulk(const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}
const std::string info_reply = bulk(
    "run_id:abc\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n"
    "master_replid:xyz\r\nmaster_replid2:0000\r\n");

class conversation {
  public:
    explicit conversation(introduction who) : machine(std::move(who)) {
        machine.start(sent);
        newest = sent;
    }
    conversation& hear(std::string_view frame) {
        newest.clear();
        machine.step(resp::view(frame), newest);
        sent += newest;
        return *this;
    }
    /// Answers whatever else is asked, until the facts are known.
    conversation& hear_the_rest() {
        while (machine.current() == handshake::state::facts) hear("+OK\r\n");
        return *this;
    }
    [[nodiscard]] bool asked(std::string_view what) const {
        return newest.find(what) != std::string::npos;
    }

    handshake machine;
    std::string sent;
    std::string newest;
};

introduction plain() {
    return {.user = {},
            .password = {},
            .client_name = "me",
            .loads = kinds::exclusive().loads(kinds::topology::quorum)};
}

TEST(handshake, speaks_version_three_and_asks_for_everything_in_one_write) {
    auto who = plain();
    who.database = 5;
    conversation with(who);
    EXPECT_TRUE(with.asked("HELLO"));
    EXPECT_FALSE(with.asked("AUTH"));
    with.hear(hello_reply);
    for (const auto* what : {"SETNAME", "SELECT", "TRACKING", "INFO", "LOAD"}) {
        EXPECT_TRUE(with.asked(what)) << what;
    }
    with.hear("+OK\r\n").hear("+OK\r\n").hear("+OK\r\n").hear(info_reply).hear_the_rest();
    ASSERT_EQ(with.machine.current(), handshake::state::enlisting);
    EXPECT_TRUE(with.asked(core::record_key));
    with.hear(known_life);
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    ASSERT_TRUE(with.machine.result().enlisted);
    EXPECT_EQ(with.machine.result().enlisted->floor, 1'700'000'000'000'000U);
    EXPECT_EQ(with.machine.result().enlisted->time, 1'700'000'001'000'000U);
    EXPECT_EQ(with.machine.result().protocol, 3);
    const auto facts = with.machine.result().facts();
    EXPECT_EQ(facts.run_id, "abc");
    EXPECT_EQ(facts.replication_id, "xyz");
    EXPECT_EQ(facts.second_replication_id, "") << "zeros are none";
    EXPECT_EQ(facts.eviction_policy, "noeviction");
    EXPECT_TRUE(facts.tracking);
    EXPECT_FALSE(facts.is_replica);
}

TEST(handshake, falls_back_to_version_two_with_a_password) {
    auto who = plain();
    who.user = "bob";
    who.password = "secret";
    conversation with(who);
    EXPECT_TRUE(with.asked("bob"));
    with.hear("-ERR unknown command `HELLO`, with args beginning with: \r\n");
    EXPECT_TRUE(with.asked("AUTH"));
    EXPECT_FALSE(with.asked("HELLO"));
    with.hear("+OK\r\n");
    EXPECT_FALSE(with.asked("TRACKING")) << "no pushes in version two";
    with.hear("+OK\r\n").hear(info_reply).hear_the_rest().hear(known_life);
    EXPECT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_EQ(with.machine.result().protocol, 2);
}

TEST(handshake, whoever_asks_for_what_hello_said_did_not_understand_it) {
    auto who = plain();
    who.password = "secret";
    conversation with(who);
    with.hear("-NOAUTH Authentication required.\r\n");
    EXPECT_TRUE(with.asked("AUTH"));
    EXPECT_FALSE(with.asked("HELLO"));
    conversation nobody(plain());
    nobody.hear("-NOAUTH HELLO must be called with the client already authenticated\r\n");
    ASSERT_EQ(nobody.machine.current(), handshake::state::failed);
    EXPECT_EQ(nobody.machine.why().code, errc::authentication);
}

TEST(handshake, a_refused_password_is_final) {
    auto who = plain();
    who.password = "wrong";
    conversation with(who);
    with.hear("-WRONGPASS invalid username-password pair\r\n");
    ASSERT_EQ(with.machine.current(), handshake::state::failed);
    EXPECT_EQ(with.machine.why().code, errc::authentication);
    EXPECT_TRUE(with.machine.why().hopeless);
}

TEST(handshake, a_restricted_user_may_lock_without_info) {
    conversation with(plain());
    with.hear(hello_reply).hear("+OK\r\n").hear("-NOPERM client\r\n").hear("-NOPERM info\r\n");
    with.hear_the_rest();
    EXPECT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_FALSE(with.machine.result().tracking);
}

TEST(handshake, a_database_that_does_not_exist_is_fatal) {
    auto who = plain();
    who.database = 99;
    conversation with(who);
    with.hear(hello_reply).hear("+OK\r\n").hear("-ERR DB index is out of range\r\n");
    EXPECT_EQ(with.machine.current(), handshake::state::failed);
}

introduction guarding() {
    auto who = plain();
    who.policy.restart_guard = true;
    who.policy.max_ttl = 60s;
    return who;
}

/// As far as the question for the record of the server's life.
conversation& enlisting_with(conversation& with) {
    with.hear(hello_reply).hear("+OK\r\n").hear("+OK\r\n").hear(info_reply).hear_the_rest();
    EXPECT_EQ(with.machine.current(), handshake::state::enlisting);
    return with;
}

TEST(handshake, with_the_restart_guard_nothing_comes_before_the_lives_were_compared) {
    const auto who = guarding();
    conversation with(who);
    enlisting_with(with);
    EXPECT_TRUE(with.asked("EVAL"));
    EXPECT_TRUE(with.asked(std::to_string(core::judge(who.policy).quarantine() / 1ms)));
    with.hear("*5\r\n:1\r\n:60602\r\n:1700000060602000\r\n:60000\r\n:1700000000000000\r\n");
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_EQ(with.machine.result().enlisted, (core::enlistment{.quarantine = 60602ms,
                                                                .floor = 1'700'000'060'602'000,
                                                                .max_ttl = 60s,
                                                                .time = 1'700'000'000'000'000,
                                                                .begun = true}));
}

TEST(handshake, a_server_that_has_not_noted_its_life_is_not_used) {
    for (const auto& who : {plain(), guarding()}) {
        for (const auto* refusal :
             {"-LOADING Redis is loading the dataset in memory\r\n", "-OOM command not allowed\r\n",
              "-MISCONF Redis is configured to save\r\n", "-BUSY Redis is busy\r\n",
              "-NOREPLICAS Not enough good replicas to write.\r\n", "-READONLY a replica\r\n",
              "-ERR anything else\r\n", "*4\r\n:0\r\n:0\r\n:1\r\n:0\r\n", "*2\r\n:0\r\n:-2\r\n",
              "+OK\r\n", "_\r\n"}) {
            conversation with(who);
            enlisting_with(with).hear(refusal);
            EXPECT_EQ(with.machine.current(), handshake::state::failed) << refusal;
            EXPECT_FALSE(with.machine.why().hopeless) << refusal;
        }
    }
}

TEST(handshake, a_record_that_no_client_wrote_is_named_with_what_mends_it) {
    for (const auto& who : {plain(), guarding()}) {
        for (const auto* answer :
             {"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
              "*5\r\n:0\r\n:8973867117964971000\r\n:0\r\n:0\r\n:1\r\n",
              "*5\r\n:0\r\n:0\r\n:0\r\n:8973867117964971000\r\n:1\r\n"}) {
            conversation with(who);
            enlisting_with(with).hear(answer);
            EXPECT_EQ(with.machine.current(), handshake::state::failed) << answer;
            const auto& why = with.machine.why();
            EXPECT_TRUE(why.hopeless) << "no waiting helps: " << answer;
            EXPECT_NE(why.message.find(core::record_key), std::string::npos) << why.message;
            EXPECT_NE(why.message.find("enlist --fresh"), std::string::npos) << why.message;
        }
    }
}

TEST(handshake, a_server_whose_life_cannot_be_read_now_is_not_used) {
    conversation with(plain());
    with.hear(hello_reply).hear("+OK\r\n").hear("+OK\r\n").hear("-BUSY Redis is busy\r\n");
    EXPECT_EQ(with.machine.current(), handshake::state::failed);
}

TEST(handshake, a_user_who_may_not_write_can_still_look_where_nothing_is_guarded) {
    constexpr auto refusal = "-NOPERM this user has no permissions to run the 'eval' command\r\n";
    conversation with(plain());
    enlisting_with(with).hear(refusal);
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_FALSE(with.machine.result().enlisted);
    EXPECT_TRUE(with.machine.result().not_enlisted);
    conversation guarded(guarding());
    enlisting_with(guarded).hear(refusal);
    EXPECT_EQ(guarded.machine.current(), handshake::state::failed);
}

TEST(handshake, a_server_that_is_emptied_meanwhile_is_asked_everything_again) {
    conversation before(guarding());
    before.hear(hello_reply).hear("+OK\r\n").hear("+OK\r\n").hear(info_reply);
    before.machine.emptied();
    while (!before.asked("INFO")) before.hear("+OK\r\n");
    EXPECT_EQ(before.machine.current(), handshake::state::facts);

    conversation with(guarding());
    enlisting_with(with);
    with.machine.emptied();
    with.hear(known_life);
    EXPECT_EQ(with.machine.current(), handshake::state::facts);
    EXPECT_TRUE(with.asked("INFO"));
    with.hear("+OK\r\n").hear("+OK\r\n").hear(info_reply).hear_the_rest();
    with.hear(known_life);
    EXPECT_EQ(with.machine.current(), handshake::state::done);
}

introduction acknowledged() {
    auto who = guarding();
    who.group = {.members = 3, .acks = 1};
    who.acks = {.needed = 1, .timeout = 750ms, .at = {.key = "holdfast:ack:0"}};
    return who;
}
constexpr auto noted_only = "*5\r\n:3\r\n:0\r\n:0\r\n:0\r\n:1700000000000000\r\n";
constexpr auto begun = "*5\r\n:1\r\n:60602\r\n:1700000060602000\r\n:60000\r\n:1700000000000000\r\n";
const std::string same_life = bulk("role:master\r\nmaster_replid:xyz\r\nmaster_replid2:0000\r\n");
/// The last three arguments of the enlisting: members, acknowledgements, whether they are there.
std::string group_arguments(const std::string& done) {
    return "$1\r\n3\r\n$1\r\n1\r\n$1\r\n" + done + "\r\n";
}

TEST(handshake, a_quarantine_begins_when_the_replicas_know_that_the_life_is_noted) {
    conversation with(acknowledged());
    enlisting_with(with);
    EXPECT_TRUE(with.newest.ends_with(group_arguments("0"))) << with.newest;
    with.hear(noted_only);
    ASSERT_EQ(with.machine.current(), handshake::state::replicas);
    EXPECT_FALSE(with.asked("EVAL")) << "not before they have answered";
    for (const auto* what : {"SET", "holdfast:ack:0", "WAIT", "750", "INFO"}) {
        EXPECT_TRUE(with.asked(what)) << what;
    }
    with.hear("+OK\r\n").hear(":1\r\n");
    EXPECT_FALSE(with.asked("EVAL"));
    with.hear(same_life);
    ASSERT_EQ(with.machine.current(), handshake::state::enlisting);
    EXPECT_TRUE(with.newest.ends_with(group_arguments("1"))) << with.newest;
    with.hear(begun);
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_EQ(with.machine.result().enlisted->quarantine, 60602ms);
}

TEST(handshake, a_quarantine_that_began_so_is_believed) {
    conversation with(acknowledged());
    enlisting_with(with).hear(known_life);
    EXPECT_EQ(with.machine.current(), handshake::state::done);
}

TEST(handshake, a_life_that_too_few_replicas_know_is_not_used) {
    conversation with(acknowledged());
    enlisting_with(with).hear(noted_only).hear("+OK\r\n").hear(":0\r\n").hear(same_life);
    ASSERT_EQ(with.machine.current(), handshake::state::failed);
    EXPECT_EQ(with.machine.why().message,
              "enlisted, but acknowledged by 0 of the 1 replicas that replica_acks asks for");
    EXPECT_FALSE(with.machine.why().hopeless) << "they may come back";
}

TEST(handshake, a_life_that_ends_before_the_replicas_know_it_is_not_used) {
    for (const auto* later :
         {"role:master\r\nmaster_replid:new\r\nmaster_replid2:xyz\r\n",
          "role:slave\r\nmaster_replid:xyz\r\nmaster_replid2:0000\r\n", "nothing:of_it\r\n"}) {
        conversation with(acknowledged());
        enlisting_with(with).hear(noted_only).hear("+OK\r\n").hear(":2\r\n").hear(bulk(later));
        EXPECT_EQ(with.machine.current(), handshake::state::failed) << later;
    }
}

TEST(handshake, what_replicas_acknowledge_without_the_write_says_nothing) {
    conversation with(acknowledged());
    enlisting_with(with).hear(noted_only);
    with.hear("-NOPERM No permissions to access a key\r\n").hear(":2\r\n").hear(same_life);
    ASSERT_EQ(with.machine.current(), handshake::state::failed);
    EXPECT_EQ(with.machine.why().code, errc::permission);
}

TEST(handshake, a_server_that_is_emptied_before_its_replicas_answer_is_asked_anew) {
    conversation with(acknowledged());
    enlisting_with(with).hear(noted_only).hear("+OK\r\n");
    with.machine.emptied();
    with.hear(":2\r\n").hear(same_life);
    EXPECT_EQ(with.machine.current(), handshake::state::facts);
}

TEST(handshake, a_server_that_never_begins_the_quarantine_is_not_asked_for_ever) {
    conversation with(acknowledged());
    enlisting_with(with).hear(noted_only).hear("+OK\r\n").hear(":2\r\n").hear(same_life);
    with.hear(noted_only);
    EXPECT_EQ(with.machine.current(), handshake::state::failed);
    conversation without(guarding());
    enlisting_with(without).hear(noted_only);
    EXPECT_EQ(without.machine.current(), handshake::state::failed) << "nobody asked for replicas";
}

TEST(handshake, in_a_group_that_has_grown_more_replicas_have_to_know_the_life) {
    auto who = acknowledged();
    who.group = {.members = 5, .acks = 2};
    who.acks = {.needed = 2, .members = 5, .timeout = 750ms, .at = {.key = "holdfast:ack:0"}};
    conversation with(who);
    enlisting_with(with).hear("*6\r\n:3\r\n:0\r\n:0\r\n:0\r\n:1\r\n:3\r\n");
    ASSERT_EQ(with.machine.current(), handshake::state::replicas);
    with.hear("+OK\r\n").hear(":2\r\n").hear(same_life);
    ASSERT_EQ(with.machine.current(), handshake::state::failed);
    EXPECT_EQ(with.machine.why().message,
              "enlisted, but acknowledged by 2 of the 3 replicas that replica_acks asks for");
}

TEST(handshake, who_follows_beyond_the_group_acknowledges_nothing) {
    const auto followed_by = [](const std::string& count) {
        return bulk("role:master\r\nconnected_slaves:" + count +
                    "\r\nmaster_replid:xyz\r\nmaster_replid2:0000\r\n");
    };
    auto who = acknowledged();
    who.acks.members = 3;
    conversation with(who);
    enlisting_with(with).hear(noted_only).hear("+OK\r\n").hear(":1\r\n").hear(followed_by("3"));
    ASSERT_EQ(with.machine.current(), handshake::state::replicas) << "who is of it may answer yet";
    EXPECT_TRUE(with.asked("WAIT"));
    with.hear("+OK\r\n").hear(":1\r\n").hear(followed_by("3"));
    ASSERT_EQ(with.machine.current(), handshake::state::failed);
    EXPECT_EQ(with.machine.why().message,
              "enlisted, but acknowledged by 1 of the 1 replicas that replica_acks asks for; 1 "
              "more follow it than its group has, and do not count");
    conversation more(who);
    enlisting_with(more).hear(noted_only).hear("+OK\r\n").hear(":1\r\n").hear(followed_by("3"));
    more.hear("+OK\r\n").hear(":2\r\n").hear(followed_by("3"));
    EXPECT_EQ(more.machine.current(), handshake::state::enlisting) << "one of two is of the group";
}

TEST(handshake, a_larger_group_that_was_agreed_on_is_told) {
    conversation with(acknowledged());
    enlisting_with(with).hear("*5\r\n:4\r\n:0\r\n:5\r\n:60000\r\n:1\r\n");
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_EQ(with.machine.result().enlisted->group, 5U);
    EXPECT_EQ(with.machine.result().enlisted->floor, 0U);
}

TEST(handshake, whoever_only_asks_the_replicas_neither_enlists_nor_is_told_of_changes) {
    auto who = acknowledged();
    who.what_for = purpose::acknowledge;
    who.loads = {};
    conversation with(who);
    with.hear(hello_reply);
    EXPECT_FALSE(with.asked("TRACKING"));
    with.hear("+OK\r\n").hear(info_reply);
    EXPECT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_EQ(with.machine.result().facts().run_id, "abc");
}

TEST(handshake, acknowledgements_need_to_know_the_life) {
    auto who = acknowledged();
    who.policy.restart_guard = false;
    conversation with(who);
    with.hear(hello_reply).hear("+OK\r\n").hear("+OK\r\n").hear("-NOPERM info\r\n");
    with.hear_the_rest();
    ASSERT_EQ(with.machine.current(), handshake::state::failed);
    EXPECT_EQ(with.machine.why().message, "replica_acks need INFO, which the ACL refuses");
}

TEST(handshake, a_replica_is_not_enlisted) {
    conversation with(plain());
    with.hear(hello_reply).hear("+OK\r\n").hear("+OK\r\n");
    with.hear(bulk("run_id:abc\r\nrole:slave\r\n")).hear_the_rest();
    EXPECT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_FALSE(with.machine.result().enlisted);
}

TEST(handshake, whoever_agreed_on_another_max_ttl_is_told_which) {
    conversation with(guarding());
    enlisting_with(with).hear("*5\r\n:2\r\n:0\r\n:0\r\n:600000\r\n:1\r\n");
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_FALSE(with.machine.result().enlisted->agreed);
    EXPECT_EQ(with.machine.result().enlisted->max_ttl, 10min);
}

// The channel by which a client of one voter is called.

introduction reachable() {
    auto who = plain();
    who.loads = kinds::exclusive().loads(kinds::topology::one_voter);
    who.channel = "holdfast:client:ab";
    return who;
}
constexpr auto subscribed = ">3\r\n$9\r\nsubscribe\r\n$18\r\nholdfast:client:ab\r\n:1\r\n";

TEST(handshake, subscribes_to_its_channel_along_with_everything_else) {
    conversation with(reachable());
    with.hear(hello_reply);
    EXPECT_TRUE(with.asked("*2\r\n$9\r\nSUBSCRIBE\r\n$18\r\nholdfast:client:ab\r\n"));
    EXPECT_LT(with.newest.find("SUBSCRIBE"), with.newest.find("INFO")) << "in one write";
    with.hear("+OK\r\n").hear("+OK\r\n").hear(subscribed).hear(info_reply).hear_the_rest();
    with.hear(known_life);
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_TRUE(with.machine.result().subscribed);
    EXPECT_FALSE(with.machine.result().not_subscribed);
    EXPECT_TRUE(with.machine.result().tracking);
    EXPECT_EQ(with.machine.result().facts().run_id, "abc") << "no answer was taken for another";
}

TEST(handshake, goes_on_where_its_channel_is_kept_from_it_and_says_why) {
    conversation with(reachable());
    with.hear(hello_reply).hear("+OK\r\n").hear("+OK\r\n");
    with.hear("-NOPERM this user has no permissions to access one of the channels\r\n");
    with.hear(info_reply).hear_the_rest().hear(known_life);
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_FALSE(with.machine.result().subscribed);
    ASSERT_TRUE(with.machine.result().not_subscribed);
    EXPECT_EQ(with.machine.result().not_subscribed->code, errc::permission);
    EXPECT_EQ(with.machine.result().facts().run_id, "abc");
}

TEST(handshake, needs_no_channel_where_nobody_stands_in_line) {
    conversation with(plain());
    with.hear(hello_reply);
    EXPECT_FALSE(with.asked("SUBSCRIBE"));
    with.hear("+OK\r\n").hear("+OK\r\n").hear(info_reply).hear_the_rest().hear(known_life);
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_FALSE(with.machine.result().subscribed);
    EXPECT_FALSE(with.machine.result().not_subscribed);
}

TEST(handshake, subscribes_to_nothing_in_version_two_where_it_could_ask_for_nothing_else) {
    conversation with(reachable());
    with.hear("-ERR unknown command 'HELLO'\r\n");
    EXPECT_FALSE(with.asked("SUBSCRIBE"));
    with.hear("+OK\r\n").hear(info_reply).hear_the_rest().hear(known_life);
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_EQ(with.machine.result().protocol, 2);
    EXPECT_FALSE(with.machine.result().subscribed);
    EXPECT_FALSE(with.machine.result().not_subscribed) << "no right was missing";
}

TEST(handshake, subscribes_again_where_the_server_was_emptied_meanwhile) {
    conversation with(reachable());
    with.hear(hello_reply).hear("+OK\r\n").hear("+OK\r\n").hear(subscribed);
    with.machine.emptied();
    with.hear(info_reply);
    while (!with.asked("SUBSCRIBE")) with.hear("+OK\r\n");
    EXPECT_EQ(with.machine.current(), handshake::state::facts);
    with.hear("+OK\r\n").hear("+OK\r\n").hear(subscribed).hear(info_reply).hear_the_rest();
    with.hear(known_life);
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_TRUE(with.machine.result().subscribed);
}

constexpr auto old_hello = "-ERR unknown command 'HELLO'\r\n";

TEST(handshake, a_redis_before_6_0_6_is_refused_with_the_oldest_version_that_is_supported) {
    for (const auto* version : {"2.8.24", "3.2.12", "5.0.14", "6.0.0", "6.0.5"}) {
        conversation with(plain());
        with.hear(old_hello).hear("+OK\r\n");
        with.hear(bulk("redis_version:" + std::string(version) + "\r\nrun_id:abc\r\n"));
        with.hear_the_rest();
        ASSERT_EQ(with.machine.current(), handshake::state::failed) << version;
        EXPECT_EQ(with.machine.why().code, errc::unsafe_server);
        EXPECT_TRUE(with.machine.why().hopeless);
        EXPECT_EQ(with.machine.why().message,
                  "Redis " + std::string(version) +
                      " is too old; Holdfast needs Redis 6.0.6 or later, or Valkey");
    }
}

TEST(handshake, a_redis_from_6_0_6_on_is_not_too_old) {
    for (const auto* version : {"6.0.6", "6.0.16", "6.2.0", "7.0.0", "7.0.15", "8.0.6", "10.2.0",
                                "255.255.255", "6.0", "7", "6.x", "unstable", ""}) {
        conversation with(plain());
        with.hear(hello_reply).hear("+OK\r\n").hear("+OK\r\n");
        with.hear(bulk("redis_version:" + std::string(version) + "\r\nrun_id:abc\r\n"));
        with.hear_the_rest();
        EXPECT_EQ(with.machine.current(), handshake::state::enlisting) << version;
    }
}

TEST(handshake, a_server_that_knows_no_users_is_too_old_for_one) {
    auto who = plain();
    who.user = "app";
    who.password = "secret";
    conversation with(who);
    with.hear(old_hello).hear("-ERR wrong number of arguments for 'auth' command\r\n");
    ASSERT_EQ(with.machine.current(), handshake::state::failed);
    EXPECT_EQ(with.machine.why().code, errc::unsafe_server);
    EXPECT_NE(with.machine.why().message.find("needs Redis 6.0.6"), std::string::npos);
}

std::string hello_as(const std::string& mode) { return "%1\r\n$4\r\nmode\r\n" + bulk(mode); }

TEST(handshake, a_sentinel_and_a_cluster_node_are_refused_before_anything_is_asked_of_them) {
    for (const auto& [mode, instead] :
         {std::pair{"sentinel", "write redis+sentinel://host:port/<master-name>"},
          {"cluster", "give the URL of the Cluster, redis+cluster://"}}) {
        conversation with(plain());
        with.hear(hello_as(mode));
        ASSERT_EQ(with.machine.current(), handshake::state::failed) << mode;
        EXPECT_EQ(with.newest, "");
        EXPECT_EQ(with.machine.why().code, errc::unsafe_server);
        EXPECT_NE(with.machine.why().message.find(instead), std::string::npos);
    }
}

TEST(handshake, whoever_only_looks_is_told_of_every_kind_of_server_and_enlists_none) {
    auto who = guarding();
    who.what_for = purpose::look;
    who.database = 3;
    conversation with(who);
    with.hear(hello_as("cluster"));
    EXPECT_FALSE(with.asked("SELECT")) << "a Cluster has one database";
    with.hear("+OK\r\n").hear("+OK\r\n").hear(info_reply).hear_the_rest();
    EXPECT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_EQ(with.machine.result().mode(), "cluster");
    EXPECT_FALSE(with.machine.result().enlisted);
}

TEST(handshake, what_is_no_redis_is_called_so) {
    conversation with(plain());
    with.hear("+OK\r\n");
    ASSERT_EQ(with.machine.current(), handshake::state::failed);
    EXPECT_EQ(with.machine.why().code, errc::protocol);
}

TEST(handshake, a_user_without_a_password_authenticates_as_that_user) {
    auto who = plain();
    who.user = "guest";
    conversation with(who);
    EXPECT_TRUE(with.asked("AUTH\r\n$5\r\nguest\r\n$0\r\n\r\n")) << with.sent;
    with.hear(old_hello);
    EXPECT_EQ(with.machine.current(), handshake::state::legacy);
    EXPECT_TRUE(with.asked("AUTH\r\n$5\r\nguest\r\n$0\r\n\r\n")) << with.sent;
}

TEST(explain, knows_a_missing_right_inside_a_script_in_the_words_of_every_version) {
    for (const std::string error :
         {"NOPERM this user has no permissions to run the 'set' command",
          "ERR The user executing the script can't run this command or subcommand script: x",
          "ERR Error running script (call to f_a): @user_script:9: The user executing the script "
          "can't access at least one of the keys",
          "ERR ACL failure in script: User app has no permissions to run the 'set' command"}) {
        EXPECT_EQ(explain(resp::view("-" + error + "\r\n")).code, errc::permission) << error;
    }
}

TEST(explain, knows_what_a_command_in_a_script_answered_before_redis_7) {
    const std::string raised = "-ERR Error running script (call to f_a): @user_script:9: ";
    const auto code = [&](const char* answer) { return explain(resp::view(raised + answer)).code; };
    EXPECT_EQ(code("WRONGTYPE Operation against a key\r\n"), errc::wrong_type);
    EXPECT_EQ(code("-READONLY You can't write\r\n"), errc::unsafe_server);
    EXPECT_EQ(code("@user_script: 9: The user executing the script can't run it\r\n"),
              errc::permission);
    EXPECT_EQ(code("anything else\r\n"), errc::server_error);
    EXPECT_EQ(explain(resp::view("-ERR Error running script: oops\r\n")).code, errc::server_error);
}

TEST(explain, leaves_out_the_hash_of_a_script) {
    const std::string hash(40, 'a');
    const auto message = [](const std::string& error) {
        return explain(resp::view("-" + error + "\r\n")).message;
    };
    EXPECT_EQ(message("WRONGTYPE not that script: " + hash + ", on @user_script:1."),
              "error \"WRONGTYPE not that\"");
    EXPECT_EQ(message("ERR Error running script (call to f_" + hash + "): @user_script:1: no"),
              "error \"ERR Error running script: @user_script:1: no\"");
    for (const char* other : {"ERR no script: here", "ERR (call to f_oo): bar", "ERR script: "}) {
        EXPECT_EQ(message(other), "error \"" + std::string(other) + "\"");
    }
}

}  // namespace
}  // namespace holdfast::net
