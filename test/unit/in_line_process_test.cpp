#include <gtest/gtest.h>

#include "unit/support/crowd.hpp"

/// Several callers of one process, which stand in line as one unless they want fairness, and
/// callers without fencing, who may pass nobody either.
namespace holdfast::testing {
namespace {

using words = crowd::words;

constexpr acquire_options fair{.fair = true};
constexpr acquire_options unfenced{.fencing = false};

TEST(in_line, the_callers_of_a_process_stand_there_as_one) {
    crowd all;
    all.hold();
    const auto first = all.wait(1);
    const auto second = all.wait(1);
    EXPECT_EQ(all.line().size(), 1U);
    EXPECT_EQ(all.server.count("queue_acquire"), 1);
    all.release();
    ASSERT_TRUE(first->made);
    EXPECT_FALSE(second->done);
    all.server.forget_asked();
    all.release(*first);
    ASSERT_TRUE(second->made) << "it was handed the lock";
    EXPECT_EQ(all.server.asked(), words{});
    EXPECT_EQ(second->made->token(), first->made->token() + 1);
}

TEST(in_line, who_came_too_late_for_a_grant_stands_behind_other_processes) {
    crowd all;
    all.hold();
    const auto other = all.wait(1);
    const auto late = all.wait(0);
    all.release();
    ASSERT_TRUE(other->made);
    EXPECT_FALSE(late->done);
    all.release(*other);
    EXPECT_TRUE(late->made);
}

TEST(in_line, who_is_next_in_a_process_stands_there_when_the_first_gives_up) {
    crowd all;
    all.hold();
    const auto first = all.wait(1);
    const auto second = all.wait(1);
    const auto before = all.line();
    all.client(1).cancel(*first);
    all.here.settle();
    ASSERT_EQ(all.line().size(), 1U);
    EXPECT_EQ(all.line(), before) << "in the same place";
    all.release();
    EXPECT_TRUE(second->made);
}

TEST(in_line, a_place_is_left_to_nobody_whom_a_lease_of_its_process_keeps_out) {
    crowd all;
    all.hold();
    const auto holds = all.wait(1, fair);
    const auto first = all.wait(1);
    const auto second = all.wait(1);
    all.release();
    ASSERT_TRUE(holds->made);
    ASSERT_EQ(all.line().size(), 1U);
    all.client(1).cancel(*first);
    all.here.settle();
    EXPECT_EQ(all.line(), words{}) << "nobody would look after it";
    all.server.kill_connections();
    all.here.run_for(2s);
    EXPECT_FALSE(second->done);
    all.release(*holds);
    all.here.run_for(1s);
    EXPECT_TRUE(second->made);
}

TEST(in_line, who_stood_behind_another_that_was_denied_is_denied_when_its_own_time_is_over) {
    crowd all;
    all.hold();
    const auto then = all.here.now() + 500ms;
    const auto first = all.wait(1, {}, then);
    const auto second = all.wait(1, {}, then);
    all.here.run_for(600ms);
    for (const auto& each : {first, second}) {
        ASSERT_TRUE(each->done);
        EXPECT_FALSE(each->made);
        EXPECT_FALSE(each->failed) << each->failed->message;
    }
    EXPECT_EQ(all.line(), words{});
}

TEST(in_line, who_is_handed_the_lock_within_its_process_leaves) {
    crowd all(2);
    all.hold({.ttl = 100ms, .renew = false});
    const auto waits = all.wait(1);
    const auto entry = all.line()[0];
    all.here.run_for(100ms);
    all.server.erase_line("key");  // another caller of the process comes upon the free lock
    const auto tries = all.client(1).start("key", {}, false);
    all.here.settle();
    ASSERT_TRUE(tries->made);
    ASSERT_FALSE(waits->done);
    all.server.stand_in_line("key", entry);
    all.server.forget_asked();
    EXPECT_EQ(tries->made->release(), release_result::released);
    ASSERT_TRUE(waits->made);
    all.here.settle();
    EXPECT_EQ(all.server.asked(), words{"queue_release"});
    EXPECT_EQ(all.line(), words{});
    EXPECT_EQ(all.server.owner_of("key"), waits->made->owner()) << "which is not what stood there";
    EXPECT_NE(crowd::owner_in(entry), waits->made->owner());
}

// Fair.

TEST(in_line_fairly, every_caller_has_an_entry_of_its_own_and_asks_for_itself) {
    crowd all;
    all.hold();
    const auto first = all.wait(1, fair);
    const auto second = all.wait(1, fair);
    const auto line = all.line();
    ASSERT_EQ(line.size(), 2U);
    EXPECT_NE(crowd::owner_in(line[0]), crowd::owner_in(line[1]));
    all.release();
    ASSERT_TRUE(first->made);
    EXPECT_EQ(first->made->owner(), crowd::owner_in(line[0]));
    EXPECT_FALSE(second->done);
}

TEST(in_line_fairly, callers_of_several_processes_take_turns_as_they_came) {
    crowd all(3);
    all.hold(fair);
    std::vector<crowd::pending> waiting;
    for (const std::size_t who : {1U, 2U, 1U, 0U, 2U}) waiting.push_back(all.wait(who, fair));
    all.release();
    for (std::size_t n = 0; n < waiting.size(); ++n) {
        for (std::size_t m = 0; m < waiting.size(); ++m) EXPECT_EQ(waiting[m]->done, m <= n);
        ASSERT_TRUE(waiting[n]->made) << n;
        all.release(*waiting[n]);
    }
    EXPECT_EQ(all.line(), words{});
}

TEST(in_line_fairly, nobody_is_handed_the_lock_within_its_process) {
    crowd all(2);
    EXPECT_TRUE(all.client(0).acquire("another")->made);
    const auto first = all.client(0).start("key", fair);
    const auto second = all.client(0).start("key", fair);
    const auto other = all.client(0).start("key");
    all.here.settle();
    ASSERT_TRUE(first->made);
    ASSERT_FALSE(second->done || other->done);
    all.server.forget_asked();
    all.release(*first);
    ASSERT_TRUE(second->made);
    EXPECT_EQ(all.server.count("queue_release"), 1);
    all.release(*second);
    ASSERT_TRUE(other->made);
    EXPECT_EQ(all.server.count("queue_release"), 2);
    EXPECT_GT(other->made->token(), second->made->token());
}

TEST(in_line_fairly, what_it_leaves_is_not_handed_off_ahead_of_who_came_earlier_elsewhere) {
    crowd all(3);
    all.hold();
    const auto first = all.wait(1, fair);
    const auto elsewhere = all.wait(2);
    const auto beside = all.wait(1);
    all.release();
    ASSERT_TRUE(first->made);
    all.release(*first);
    EXPECT_TRUE(elsewhere->made);
    EXPECT_FALSE(beside->done);
}

TEST(in_line_fairly, is_not_passed_by_callers_who_want_no_fairness_beyond_one_hand_off_batch) {
    crowd all(2);
    all.hold();
    const auto first = all.wait(1);
    const auto fair_one = all.wait(1, fair);
    const auto behind = all.wait(1);
    EXPECT_EQ(all.line().size(), 2U);
    all.release();
    ASSERT_TRUE(first->made);
    all.release(*first);
    EXPECT_TRUE(behind->made) << "handed off: they stood in line as one, ahead of it";
    EXPECT_FALSE(fair_one->done);
    const auto late = all.client(1).start("key");
    all.here.settle();
    all.release(*behind);
    EXPECT_TRUE(fair_one->made);
    EXPECT_FALSE(late->done);
}

TEST(in_line_fairly, who_gives_up_leaves_and_the_others_keep_their_order) {
    crowd all;
    all.hold();
    const auto first = all.wait(1, fair);
    const auto second = all.wait(1, fair);
    const auto third = all.wait(1, fair);
    const auto before = all.line();
    all.client(1).cancel(*second);
    all.here.settle();
    EXPECT_EQ(all.line(), (words{before[0], before[2]}));
    all.release();
    ASSERT_TRUE(first->made);
    all.release(*first);
    EXPECT_TRUE(third->made);
}

TEST(in_line_fairly, only_the_first_listens_for_what_others_delete) {
    crowd all(1);
    EXPECT_TRUE(all.client(0).acquire("another")->made);
    all.server.put("key", "somebody", 1h);
    const auto first = all.wait(0, fair);
    const auto second = all.wait(0, fair);
    EXPECT_EQ(all.server.count("PTTL"), 1);
    all.server.forget_asked();
    all.server.erase("key");
    all.here.settle();
    EXPECT_TRUE(first->made);
    EXPECT_FALSE(second->done);
    EXPECT_EQ(all.server.count("queue_acquire"), 1) << "the other was not woken";
}

TEST(in_line_fairly, the_first_listens_again_when_a_lease_of_its_own_process_was_renewed) {
    crowd all(1);
    all.hold({.ttl = 2s});
    const auto first = all.wait(0, fair);
    all.here.run_for(800ms);
    EXPECT_EQ(all.server.count("extend"), 1);
    EXPECT_FALSE(first->done);
    all.server.erase("key");
    all.here.settle();
    EXPECT_TRUE(first->made);
}

TEST(in_line_fairly,
     who_came_before_a_lease_of_its_own_process_listens_again_when_that_was_renewed) {
    crowd all;
    all.hold();
    const auto holds = all.wait(1, {.ttl = 2s, .fair = true});
    const auto waits = all.wait(1);
    all.release();
    ASSERT_TRUE(holds->made);
    all.here.run_for(1900ms);  // it has looked who holds the lock now
    EXPECT_GE(all.server.count("extend"), 2);
    EXPECT_FALSE(waits->done);
    all.server.erase("key");
    all.here.settle();
    EXPECT_TRUE(waits->made);
}

TEST(in_line_fairly, everybody_finds_its_place_after_the_connection_was_lost) {
    crowd all;
    all.hold();
    const auto first = all.wait(1, fair);
    const auto second = all.wait(1, fair);
    const auto before = all.line();
    all.server.kill_connection(all.stream(1));
    all.here.run_for(2s);
    EXPECT_EQ(all.line(), before);
    all.release();
    ASSERT_TRUE(first->made);
    all.release(*first);
    EXPECT_TRUE(second->made);
}

// Without fencing.

TEST(in_line_unfenced, the_plain_command_follows_a_release_that_found_nobody_in_line) {
    crowd all(1);
    EXPECT_TRUE(all.client(0).acquire("another")->made);
    all.server.forget_asked();
    all.client(0).acquire("key", unfenced)->made.reset();
    EXPECT_EQ(all.server.count("SET"), 0) << "nobody has said so yet";
    all.server.forget_asked();
    all.client(0).acquire("key", unfenced)->made.reset();
    EXPECT_EQ(all.server.asked(), (words{"SET", "queue_release"}));
}

TEST(in_line_unfenced, the_plain_command_does_not_follow_a_release_that_went_to_the_next) {
    crowd all;
    all.hold(unfenced);
    all.release();
    all.holder = all.client(0).acquire("key", unfenced);
    EXPECT_EQ(all.server.count("SET"), 1);
    const auto other = all.wait(1, unfenced);
    all.release();
    ASSERT_TRUE(other->made);
    const auto again = all.wait(0, unfenced);
    EXPECT_EQ(all.server.count("SET"), 1);
    EXPECT_EQ(all.line().size(), 1U);
    all.release(*other);
    EXPECT_TRUE(again->made);
}

TEST(in_line_unfenced, who_was_denied_the_plain_command_stands_there) {
    crowd all;
    all.client(1).acquire("key", unfenced)->made.reset();
    all.hold(unfenced);
    const auto waits = all.wait(1, unfenced);
    EXPECT_EQ(all.server.asked(), (words{"SET", "queue_acquire", "CACHING", "PTTL"}));
    EXPECT_EQ(all.line().size(), 1U);
    all.release();
    EXPECT_TRUE(waits->made);
}

}  // namespace
}  // namespace holdfast::testing
