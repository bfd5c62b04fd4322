#include <gtest/gtest.h>

#include "unit/support/crowd.hpp"

/// What goes wrong while somebody stands in line: it costs time, never the lock, and no order but
/// that of who was away.
namespace holdfast::testing {
namespace {

using words = crowd::words;

constexpr auto no_right = "-NOPERM no permissions\r\n";

TEST(in_line, a_lost_call_costs_a_second_at_most) {
    crowd all;
    all.hold();
    const auto waits = all.wait(1);
    all.server.lose_pushes(true);
    all.release();
    EXPECT_FALSE(waits->done);
    all.here.run_for(1s);
    EXPECT_TRUE(waits->made);
}

TEST(in_line, a_call_for_nobody_who_waits_is_ignored) {
    crowd all;
    all.hold();
    const auto waits = all.wait(1);
    const auto& channel = all.client(1).engine->channel();
    const auto owner = crowd::owner_in(all.line()[0]);
    for (const auto& what :
         {std::string("stranger\nkey"), owner + "\nother key", owner, std::string("\n"),
          std::string(), all.holder->made->owner() + "\nkey"}) {
        all.stream(1).say(published(channel, what));
    }
    all.stream(1).say(">2\r\n" + bulk("message") + bulk(channel));
    all.stream(1).say(">3\r\n" + bulk("message") + bulk(channel) + ":1\r\n");
    all.stream(1).say(">3\r\n" + bulk("unsubscribe") + bulk(channel) + ":0\r\n");
    all.here.settle();
    EXPECT_EQ(all.server.count("queue_acquire"), 1);
    EXPECT_EQ(all.server.owner_of("key"), all.holder->made->owner());
    EXPECT_EQ(all.line().size(), 1U);
    EXPECT_FALSE(waits->done);
}

/// A request of a lost connection was carried out after its waiter had left.
TEST(in_line, what_is_granted_to_one_who_has_left_goes_to_the_next_at_once) {
    crowd all(3);
    all.hold();
    const auto gone = all.wait(1);
    const auto entry = all.line()[0];
    all.server.answer_once("queue_acquire", "");
    all.here.run_for(1s);
    all.client(1).cancel(*gone);
    all.here.settle();
    EXPECT_TRUE(all.line().empty());
    all.server.stand_in_line("key", entry);
    const auto next = all.wait(2);
    const auto then = all.here.now();
    all.release();
    EXPECT_TRUE(next->made);
    EXPECT_EQ(all.here.now(), then);
}

TEST(in_line, what_older_data_grant_to_one_who_had_it_long_ago_goes_to_the_next_at_once) {
    crowd all(3);
    all.hold();
    const auto once = all.wait(1);
    const auto entry = all.line()[0];
    all.release();
    ASSERT_TRUE(once->made);
    all.release(*once);
    all.server.stand_in_line("key", entry);
    const auto next = all.client(2).start("key");
    const auto then = all.here.now();
    all.here.settle();
    EXPECT_TRUE(next->made);
    EXPECT_EQ(all.here.now(), then);
}

TEST(in_line, a_call_that_somebody_made_up_takes_no_detached_lease_away) {
    crowd all(1);
    all.hold();
    const auto owner = all.holder->made->owner();
    all.holder->made->detach();
    all.stream(0).say(published("whichever", owner + "\nkey"));
    all.here.settle();
    EXPECT_EQ(all.server.owner_of("key"), owner);
}

TEST(in_line, a_call_that_comes_after_the_grant_was_claimed_changes_nothing) {
    crowd all;
    all.hold();
    const auto waits = all.wait(1);
    all.release();
    ASSERT_TRUE(waits->made);
    all.server.forget_asked();
    all.stream(1).say(published("whichever", waits->made->owner() + "\nkey"));
    all.here.settle();
    EXPECT_EQ(all.server.count("queue_release"), 0);
    EXPECT_EQ(all.server.owner_of("key"), waits->made->owner());
}

TEST(in_line, a_call_is_not_believed_it_only_makes_the_waiter_look) {
    crowd all;
    all.hold();
    const auto waits = all.wait(1);
    const auto before = all.line();
    all.stream(1).say(published("whichever", crowd::owner_in(before[0]) + "\nkey"));
    all.here.settle();
    EXPECT_EQ(all.server.count("queue_acquire"), 2);
    EXPECT_FALSE(waits->done);
    EXPECT_EQ(all.line(), before) << "in the place that it had";
}

TEST(in_line, a_call_that_overtakes_the_answer_of_a_look_is_followed) {
    crowd all;
    all.hold();
    const auto waits = all.wait(1);
    const auto owner = crowd::owner_in(all.line()[0]);
    all.server.answer_once("queue_acquire", "");  // a look before the grant, of a slow server
    all.here.run_for(1s);
    all.release();
    EXPECT_FALSE(waits->done) << "it still looks";
    all.stream(1).say("*4\r\n:0\r\n" + bulk("the last holder") + ":1000\r\n:1\r\n");
    all.here.settle();
    ASSERT_TRUE(waits->made);
    EXPECT_EQ(waits->made->owner(), owner);
}

TEST(in_line, the_dead_are_passed_over_at_once) {
    crowd all;
    all.hold();
    all.server.stand_in_line("key", "holdfast:client:gone 0 ghost");
    const auto waits = all.wait(1);
    all.release();
    EXPECT_TRUE(waits->made);
    EXPECT_EQ(all.server.calls(), 1);
}

TEST(in_line, one_that_stands_still_holds_the_others_up_for_two_seconds) {
    crowd all(3);
    all.hold();
    const auto frozen = all.wait(1);
    const auto next = all.wait(2);
    all.stream(1).stall(true);
    all.release();
    const auto granted = all.here.now();
    while (!next->done && all.here.now() < granted + 1min) all.here.step();
    ASSERT_TRUE(next->made);
    EXPECT_GE(all.here.now(), granted + 2s);
    EXPECT_LT(all.here.now(), granted + 2s + 5ms);
    EXPECT_FALSE(frozen->made);
}

TEST(in_line, one_that_stood_still_does_not_believe_what_was_granted_to_it_then) {
    crowd all(3);
    all.hold();
    const auto frozen = all.wait(1);
    const auto next = all.wait(2);
    all.server.lose_pushes(true);
    all.release();
    all.here.run_for(1ms);
    const auto stale = published("channel", *all.server.owner_of("key") + "\nkey");
    all.server.lose_pushes(false);
    all.server.put("key", "somebody else", 1h);
    all.stream(1).say(stale);
    all.here.settle();
    EXPECT_FALSE(frozen->done);
    EXPECT_EQ(all.server.owner_of("key"), "somebody else");
    EXPECT_EQ(all.line().size(), 2U) << "it stands in line again";
}

TEST(in_line, who_loses_its_connection_looks_again_and_finds_its_place) {
    crowd all(3);
    all.hold();
    const auto first = all.wait(1);
    const auto second = all.wait(2);
    const auto before = all.line();
    all.server.kill_connections();
    all.here.run_for(2s);
    EXPECT_EQ(all.line(), before);
    EXPECT_EQ(all.server.connections().size(), 3U);
    all.release();
    EXPECT_TRUE(first->made) << "and can be called";
    EXPECT_FALSE(second->done);
}

TEST(in_line, who_was_away_when_it_was_its_turn_stands_at_the_end) {
    crowd all(3);
    all.hold();
    const auto away = all.wait(1);
    const auto next = all.wait(2);
    all.server.kill_connection(all.stream(1));
    all.release();
    ASSERT_TRUE(next->made) << "the server knew that it was not there";
    all.here.run_for(3s);
    EXPECT_FALSE(away->done);
    EXPECT_EQ(all.line().size(), 1U);
    all.release(*next);
    EXPECT_TRUE(away->made);
}

TEST(in_line, who_looks_in_vain_takes_its_entry_along_and_stands_there_under_another_owner) {
    crowd all;
    all.hold();
    const auto waits = all.wait(1);
    const auto before = all.line();
    all.server.answer_once("queue_acquire", "-BUSY Redis is busy running a script\r\n");
    all.here.run_for(1s + 50ms);
    const auto after = all.line();
    ASSERT_EQ(after.size(), 1U);
    EXPECT_NE(after, before);
    EXPECT_EQ(all.server.count("queue_release"), 1);
    EXPECT_FALSE(waits->done);
    all.release();
    ASSERT_TRUE(waits->made);
    EXPECT_EQ(waits->made->owner(), crowd::owner_in(after[0]));
}

TEST(in_line, who_claims_in_vain_gives_back_what_it_may_have_got) {
    crowd all(3);
    all.hold();
    const auto first = all.wait(1);
    const auto second = all.wait(2);
    all.server.answer_once("queue_acquire", "-BUSY Redis is busy running a script\r\n");
    all.release();
    all.here.settle();
    EXPECT_TRUE(second->made) << "the undoing has granted it to the next";
    EXPECT_FALSE(first->done);
    all.here.run_for(100ms);
    EXPECT_EQ(all.line().size(), 1U) << "and it stands in line again";
}

TEST(in_line, who_gives_up_while_the_server_is_away_leaves_when_it_is_back) {
    crowd all;
    all.hold();
    const auto waits = all.wait(1, {.ttl = 100ms});
    all.server.stop();
    all.client(1).cancel(*waits);
    all.here.run_for(2s);
    all.server.start();
    all.here.run_for(3s);
    EXPECT_EQ(all.line(), words{}) << "however short its lease would have been";
}

TEST(in_line, who_waits_at_a_server_that_is_emptied_has_the_lock_that_is_free_then) {
    crowd all(2, {.restart_guard = false});
    all.hold();
    const auto waits = all.wait(1);
    all.server.flush_all();
    all.here.run_for(1s);
    EXPECT_TRUE(waits->made);
}

TEST(in_line, who_may_not_be_called_looks_more_often_and_is_told_why_in_the_log) {
    std::vector<std::string> events;
    crowd all(2, {.log = [&](const log_record& line) {
                  if (line.level == log_level::warning) {
                      events.push_back(std::string(line.event) + ": " + std::string(line.message));
                  }
              }});
    all.server.answer("SUBSCRIBE", no_right);
    all.hold();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_TRUE(events[0].starts_with("not_called: who waits is not called")) << events[0];
    EXPECT_NE(events[0].find("NOPERM"), std::string::npos) << events[0];
    const auto waits = all.wait(1);
    EXPECT_TRUE(all.line()[0].starts_with("- "));
    all.here.run_for(500ms);
    EXPECT_GE(all.server.count("queue_acquire"), 6);
    EXPECT_EQ(all.line().size(), 1U);
    all.release();
    EXPECT_EQ(all.server.calls(), 0);
    all.here.run_for(500ms);
    EXPECT_TRUE(waits->made);
}

TEST(in_line, who_may_not_be_called_keeps_its_grant_for_two_seconds_ahead_of_who_may) {
    crowd all(3);
    all.server.answer_once("SUBSCRIBE", no_right);
    EXPECT_TRUE(all.client(1).acquire("another")->made);
    all.hold();
    const auto deaf = all.wait(1);
    const auto next = all.wait(2);
    all.release();
    EXPECT_FALSE(next->done);
    all.here.run_for(500ms);
    EXPECT_TRUE(deaf->made);
}

TEST(in_line, nothing_is_asked_for_in_a_quarantine) {
    crowd all(1, {.restart_guard = true});
    all.server.enlisted = "*5\r\n:1\r\n:3000\r\n:1000\r\n:60000\r\n:1700000000000000\r\n";
    const auto waits = all.client(0).start("key");
    all.here.settle();
    all.server.enlisted = "*5\r\n:0\r\n:3000\r\n:1000\r\n:60000\r\n:1700000000000000\r\n";
    all.here.run_for(2990ms);
    EXPECT_EQ(all.server.count("queue_acquire"), 0);
    EXPECT_EQ(all.server.count("PTTL"), 0);
    EXPECT_EQ(all.line(), words{});
    all.here.run_for(20ms);
    EXPECT_TRUE(waits->made);
    EXPECT_EQ(all.server.count("queue_acquire"), 1);
}

}  // namespace
}  // namespace holdfast::testing
