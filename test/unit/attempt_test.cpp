#include "runtime/operations/attempt.hpp"

#include <gtest/gtest.h>

#include "unit/support/try_out.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
using testing::try_out;
using verdict = core::acquire::verdict;
using words = std::vector<std::string>;

TEST(attempt, at_one_server_is_won_by_its_grant) {
    try_out with;
    EXPECT_EQ(with.run(), verdict::held);
    EXPECT_EQ(with.made->machine().token().value, 1001U);
    EXPECT_EQ(with.made->machine().valid_until(), with.made->machine().started_at() + 30s - 302ms);
    EXPECT_EQ(with.server().count("queue_acquire"), 1);
    EXPECT_EQ(with.decisions, 1);
}

TEST(attempt, that_is_denied_knows_by_whom_and_for_how_long) {
    try_out with;
    with.server().put("key", "somebody", 5s);
    EXPECT_EQ(with.run(), verdict::contended);
    ASSERT_TRUE(with.made->denied_by());
    EXPECT_EQ(with.made->denied_by()->owner, "somebody");
    EXPECT_EQ(with.made->denied_by()->remaining, 5s);
    EXPECT_EQ(with.server().count("queue_release"), 0) << "nothing can have landed";
}

TEST(attempt, that_listens_is_told_and_says_whether_it_will_be) {
    const auto held_by_somebody = [](try_out& with) {
        with.connect();
        for (const auto& each : with.servers) each->put("key", "somebody", 5s);
    };
    try_out with(3);
    held_by_somebody(with);
    EXPECT_EQ(with.run({}, {.listens = true}), verdict::contended);
    EXPECT_EQ(with.server(0).count("CACHING"), 1);
    EXPECT_TRUE(with.made->summary().tracked);

    try_out deaf(3);
    for (const auto& each : deaf.servers) each->answer("TRACKING", "-ERR unknown subcommand\r\n");
    held_by_somebody(deaf);
    EXPECT_EQ(deaf.run({}, {.listens = true}), verdict::contended);
    EXPECT_FALSE(deaf.made->summary().tracked);
}

TEST(attempt, without_fencing_is_one_plain_command_at_every_server_of_a_quorum) {
    try_out with(3);
    with.connect();
    EXPECT_EQ(with.run({.fencing = false}), verdict::held);
    for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(with.server(n).asked(), words{"SET"}) << n;
    EXPECT_EQ(with.made->machine().token().value, 0U);
}

TEST(attempt, without_fencing_asks_the_script_who_denied_it) {
    try_out with(3);
    with.connect();
    for (const auto& each : with.servers) each->put("key", "somebody", 5s);
    EXPECT_EQ(with.run({.fencing = false}, {.inquires = true}), verdict::contended);
    EXPECT_EQ(with.server(0).count("SET"), 1);
    EXPECT_EQ(with.server(0).count("acquire"), 1);
    ASSERT_TRUE(with.made->denied_by());
    EXPECT_EQ(with.made->denied_by()->owner, "somebody");
}

TEST(attempt, is_won_by_two_of_three_and_does_not_wait_for_the_third) {
    try_out with(3);
    with.connect();
    with.server(2).answer("acquire", "");
    EXPECT_EQ(with.run(), verdict::held);
    EXPECT_EQ(with.decided_at, with.made->machine().started_at());
}

TEST(attempt, brings_the_counters_of_a_majority_in_step_before_it_is_won) {
    try_out with(3);
    with.connect();
    with.server(0).counter = 5000;
    with.server(2).answer("acquire", "");
    with.server(1).answer("commit", "");
    with.start();
    with.here.settle();
    EXPECT_EQ(with.decisions, 0) << "one counter lies below the token";
    EXPECT_EQ(with.server(1).count("commit"), 1);
    EXPECT_EQ(with.server(0).count("commit"), 0);
    with.client->around->streams()[1]->say(":1\r\n");
    with.here.settle();
    EXPECT_EQ(with.outcome, verdict::held);
    EXPECT_EQ(with.made->machine().token().value, 5001U);
}

TEST(attempt, whose_commit_finds_another_owner_is_not_won_by_it) {
    try_out with(3);
    with.connect();
    with.server(0).counter = 5000;
    with.server(1).answer("commit", ":0\r\n");
    with.server(2).put("key", "somebody", 5s);
    with.run();
    EXPECT_NE(with.outcome, verdict::held);
    EXPECT_EQ(with.decisions, 1);
}

TEST(attempt, that_is_lost_is_released_wherever_it_was_asked) {
    try_out with(3);
    with.connect();
    with.server(1).put("key", "somebody", 5s);
    with.server(2).put("key", "somebody", 5s);
    EXPECT_EQ(with.run(), verdict::contended);
    EXPECT_FALSE(with.server(0).owner_of("key"));
    for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(with.server(n).count("release"), 1) << n;
    EXPECT_EQ(with.server(1).owner_of("key"), "somebody");
}

TEST(attempt, that_is_not_answered_in_time_is_undone_behind_itself) {
    try_out with;
    with.connect();
    with.server().answer_once("queue_acquire", "");
    EXPECT_EQ(with.run(), verdict::unreachable);
    EXPECT_EQ(with.decided_at, with.made->machine().started_at() + 1s);
    EXPECT_EQ(with.made->why().message, "redis0:6379: no answer in time");
    EXPECT_EQ(with.server().asked(), (words{"queue_acquire", "queue_release"}));
}

TEST(attempt, that_a_server_refuses_is_undone_and_says_what_was_said) {
    for (const std::string refusal :
         {"-LOADING Redis is loading\r\n", "-OOM command not allowed\r\n",
          "-BUSY Redis is busy\r\n", "-MISCONF Redis is configured\r\n",
          "-NOPERM no permissions\r\n", "*2\r\n:7\r\n:7\r\n"}) {
        try_out with;
        with.connect();
        with.server().answer_once("queue_acquire", refusal);
        EXPECT_EQ(with.run(), verdict::unreachable) << refusal;
        EXPECT_EQ(with.server().count("queue_release"), 1) << refusal;
        EXPECT_EQ(with.made->why().hopeless, refusal[1] == 'N' || refusal[0] == '*') << refusal;
    }
}

TEST(attempt, whose_undoing_is_refused_is_undone_later) {
    try_out with;
    with.connect();
    with.server().answer_once("queue_acquire", "-OOM command not allowed\r\n");
    with.server().answer_once("queue_release", "-BUSY Redis is busy\r\n");
    with.start();
    with.here.settle();
    EXPECT_EQ(with.server().count("queue_release"), 1);
    with.here.run_for(100ms);
    EXPECT_EQ(with.server().count("queue_release"), 2);
}

// Pauses grow while a server refuses, and not from one outage to the next.
TEST(attempt, whose_undoing_is_refused_is_undone_as_soon_as_ever_after_others_were_settled) {
    try_out with;
    with.connect();
    with.server().answer_once("queue_acquire", "-OOM command not allowed\r\n");
    with.server().answer("queue_release", "-BUSY Redis is busy\r\n");
    with.start();
    with.here.run_for(5s);
    with.server().answer_as_usual("queue_release");
    with.here.run_for(5s);
    with.server().forget_asked();
    with.server().answer_once("queue_acquire", "-OOM command not allowed\r\n");
    with.server().answer_once("queue_release", "-BUSY Redis is busy\r\n");
    with.start();
    with.here.settle();
    EXPECT_EQ(with.server().count("queue_release"), 1);
    with.here.run_for(100ms);
    EXPECT_EQ(with.server().count("queue_release"), 2);
}

TEST(attempt, that_cannot_reach_a_server_owes_it_the_release) {
    try_out with(3);
    with.connect();
    with.server(0).answer("acquire", "");
    with.server(1).put("key", "somebody", 20s);
    with.server(2).put("key", "somebody", 20s);
    with.start();
    with.here.settle();
    with.server(0).kill_connections();
    with.server(0).forget_asked();
    with.here.run_for(1s);
    EXPECT_EQ(with.outcome, verdict::contended);
    EXPECT_EQ(with.server(0).count("release"), 1) << "after the reconnect";
}

TEST(attempt, that_is_cancelled_is_undone_and_tells_nobody) {
    try_out with;
    with.connect();
    with.server().answer_once("queue_acquire", "");
    with.start();
    with.here.settle();
    with.cancel();
    with.here.run_for(2s);
    EXPECT_EQ(with.decisions, 0);
    EXPECT_EQ(with.server().asked(), (words{"queue_acquire", "queue_release"}));
}

TEST(attempt, that_is_granted_too_late_does_not_count) {
    try_out with;
    with.connect();
    with.server().answer_once("queue_acquire", "");
    with.start({.ttl = 100ms});
    with.here.run_for(90ms);
    with.client->around->streams()[0]->say("*2\r\n:1\r\n:2000\r\n");
    with.here.settle();
    EXPECT_EQ(with.outcome, verdict::too_late);
    EXPECT_EQ(with.server().count("queue_release"), 1);
}

TEST(attempt, of_a_new_client_waits_until_every_server_was_tried) {
    try_out with(3);
    with.server(2).answer("HELLO", "");
    with.start();
    with.here.run_for(199ms);
    EXPECT_EQ(with.server(0).count("acquire"), 0);
    with.here.run_for(1ms);
    EXPECT_EQ(with.outcome, verdict::held);
    EXPECT_EQ(with.decided_at, with.made->machine().started_at()) << "from when it asked";
}

TEST(attempt, at_servers_that_are_one_is_refused) {
    try_out with(3);
    with.server(1).info = with.server(0).info;
    EXPECT_EQ(with.run(), verdict::unreachable);
    EXPECT_TRUE(with.made->why().hopeless);
    EXPECT_NE(with.made->why().message.find("are the same server"), std::string::npos);
    for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(with.server(n).count("acquire"), 0) << n;
}

TEST(attempt, a_straggler_that_comes_later_still_counts_for_the_lease) {
    try_out with(3);
    with.connect();
    with.server(2).answer_once("acquire", "");
    EXPECT_EQ(with.run(), verdict::held);
    with.client->around->streams()[2]->say("*2\r\n:1\r\n:9000\r\n");
    with.here.settle();
    EXPECT_EQ(with.decisions, 1);
    EXPECT_EQ(with.made->machine().token().value, 1002U) << "a token that was given stays";
}

}  // namespace
}  // namespace holdfast::runtime
