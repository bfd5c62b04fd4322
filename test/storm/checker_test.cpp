#include "storm/checker.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "storm/coverage.hpp"
#include "storm/invented.hpp"
#include "storm/summary.hpp"
#include "storm/timeline.hpp"
#include "support/scratch_directory.hpp"

namespace holdfast::storm {
namespace {

TEST(storm_checker, finds_nothing_in_a_history_that_is_in_order) {
    invented story;
    story.phase("minority", 1s);
    const auto first = story.acquire("w1", 7, 2s);
    story.write("w1", first, 2500ms, "plain:pears", "first", "a");
    story.write("w1", first, 2500ms, "fenced:pears", "first", "b");
    story.release("w1", first, 3s);
    const auto second = story.acquire("w2", 8, 3002ms);
    story.write("w2", second, 3500ms, "plain:pears", "a", "c");
    story.write("w2", second, 3500ms, "fenced:pears", "b", "d");
    story.release("w2", second, 4s);
    story.phase("over", 5s);
    const verdict found = story.judged();
    EXPECT_TRUE(found.violations.empty());
    EXPECT_EQ(found.plain_updates, 2U);
    EXPECT_EQ(found.fenced_updates, 2U);
}

TEST(storm_checker, sees_two_holders_at_once) {
    invented story;
    story.acquire("w1", 7, 2s);
    story.acquire("w2", 8, 3s);
    EXPECT_EQ(story.broken(), rules{rule::exclusion});
}

TEST(storm_checker, sees_an_overlap_behind_a_later_and_shorter_hold) {
    invented story;
    story.acquire("w1", 7, 2s);
    story.release("w2", story.acquire("w2", 8, 2500ms), 2600ms);
    story.acquire("w3", 9, 3s);
    EXPECT_EQ(story.broken(), (rules{rule::exclusion, rule::exclusion}));
}

TEST(storm_checker, lets_a_lease_begin_where_the_last_one_was_released_or_has_ended) {
    invented story;
    story.release("w1", story.acquire("w1", 7, 2s), 3s);
    story.acquire("w2", 8, 3s);
    story.acquire("w3", 9, 5s);
    EXPECT_EQ(story.broken(), rules{});
}

TEST(storm_checker, follows_the_deadline_as_it_is_renewed) {
    invented story;
    const auto first = story.acquire("w1", 7, 2s);
    story.note("w1", {.at = 3s, .what = happening::extended, .hold = first, .until = 5s});
    story.acquire("w2", 8, 4500ms);
    EXPECT_EQ(story.broken(), rules{rule::exclusion});
}

TEST(storm_checker, promises_no_exclusion_across_a_clock_that_jumps_forwards) {
    invented story;
    story.acquire("w1", 7, 2s);
    story.strike(fault_kind::clock_forwards, 2500ms, 2501ms);
    story.acquire("w2", 8, 3s);
    EXPECT_EQ(story.broken(), rules{});
    EXPECT_EQ(story.judged().overlaps_unpromised, 1U);
}

TEST(storm_checker, promises_no_exclusion_for_a_lock_that_is_deleted_by_hand) {
    for (const auto* key : {"apples", "pears"}) {
        invented story;
        story.acquire("w1", 7, 2s, key);
        story.strike(fault_kind::delete_lock, 2500ms, 2501ms);
        story.acquire("w2", 8, 3s, key);
        EXPECT_EQ(story.broken(), key == popular_key ? rules{} : rules{rule::exclusion});
    }
}

TEST(storm_checker, excuses_no_overlap_by_a_jump_before_or_after_it_or_by_another_fault) {
    invented story;
    story.strike(fault_kind::clock_forwards, 1s, 1001ms);
    story.acquire("w1", 7, 2s);
    story.strike(fault_kind::flush_all, 2500ms, 2501ms);
    story.strike(fault_kind::clock_backwards, 2500ms, 2501ms);
    story.acquire("w2", 8, 3s);
    story.strike(fault_kind::clock_forwards, 4s, 4001ms);
    EXPECT_EQ(story.broken(), rules{rule::exclusion});
}

TEST(storm_checker, sees_a_token_twice) {
    invented story;
    story.release("w1", story.acquire("w1", 7, 2s), 3s);
    story.release("w2", story.acquire("w2", 7, 4s), 5s);
    EXPECT_EQ(story.broken(), rules{rule::unique_tokens});
}

TEST(storm_checker, sees_a_lease_without_a_token) {
    invented story;
    story.release("w1", story.acquire("w1", 0, 2s), 3s);
    EXPECT_EQ(story.broken(), rules{rule::unique_tokens});
}

TEST(storm_checker, sees_tokens_that_go_back_however_many_come_in_between) {
    invented story;
    story.release("w1", story.acquire("w1", 9, 2s), 3s);
    story.release("w2", story.acquire("w2", 12, 4s), 5s);
    story.release("w3", story.acquire("w3", 11, 6s), 7s);
    EXPECT_EQ(story.broken(), rules{rule::token_order});
}

TEST(storm_checker, lets_tokens_of_attempts_under_way_together_come_in_any_order) {
    invented story;
    const auto first = story.acquire("w1", 8, 2s);
    story.release("w1", first, 2001ms);
    story.note("w2", {.at = 1s, .what = happening::began, .hold = 99, .subject = "pears"});
    story.note("w2", {.at = 3s,
                      .what = happening::acquired,
                      .hold = 99,
                      .token = 7,
                      .until = 3500ms,
                      .since = 1500ms});
    EXPECT_EQ(story.broken(), rules{});
}

// The grant was sent at 1999 ms, with two tokens. Another process got the lock in between.
TEST(storm_checker, orders_who_was_handed_the_lock_by_when_it_asked_itself) {
    for (const instant began : {1500ms, 2400ms}) {
        invented story;
        story.strike(fault_kind::clock_forwards, 2100ms, 2101ms);
        story.release("w1", story.acquire("w1", 7, 2s), 2500ms);
        story.release("w2", story.acquire("w2", 9, 2300ms), 2350ms);
        const auto heir = story.inherit("w1", 8, began, 1999ms, 2501ms);
        story.release("w1", heir, 2600ms);
        EXPECT_EQ(story.broken(), began == 1500ms ? rules{} : rules{rule::token_order});
    }
}

TEST(storm_checker, counts_what_was_handed_off) {
    invented story;
    story.release("w1", story.acquire("w1", 7, 2s), 2500ms);
    story.release("w1", story.inherit("w1", 8, 1500ms, 1999ms, 2501ms), 2600ms);
    story.release("w2", story.inherit("w2", 9, 1500ms, 1999ms, 2701ms), 2800ms);  // by chance
    const account all = story.reconstructed();
    ASSERT_EQ(all.holds.size(), 3U);
    EXPECT_TRUE(all.holds[0].handed_on);
    EXPECT_TRUE(all.holds[1].handed_off);
    EXPECT_FALSE(all.holds[1].handed_on);
    EXPECT_FALSE(all.holds[2].handed_off);
    std::ostringstream summary;
    print_summary(summary, all, check(all));
    EXPECT_NE(summary.str().find("handed off  1 "), std::string::npos) << summary.str();
}

TEST(storm_checker, sees_a_storm_in_which_nothing_was_handed_off) {
    invented story;
    story.strike(fault_kind::clock_forwards, 2100ms, 2101ms);
    story.release("w1", story.acquire("w1", 7, 2s), 2500ms);
    EXPECT_EQ(not_covered(story.reconstructed()).size(), 1U);
    story.release("w1", story.inherit("w1", 8, 1500ms, 1999ms, 2501ms), 2600ms);
    EXPECT_EQ(not_covered(story.reconstructed()).size(), 0U);
}

TEST(storm_checker, expects_no_word_of_the_servers_from_who_handed_the_lock_off) {
    invented story;
    story.strike(fault_kind::clock_forwards, 2100ms, 2101ms);
    const auto first = story.acquire("w1", 7, 2s);
    story.release("w2", story.acquire("w2", 9, 2300ms), 2350ms);
    story.release("w1", first, 2500ms);
    EXPECT_EQ(story.broken(), rules{rule::foreign_release});
    story.inherit("w1", 8, 1500ms, 1999ms, 2501ms);
    EXPECT_EQ(story.broken(), rules{});
}

TEST(storm_checker, sees_an_owner_that_two_holders_show) {
    invented story;
    const auto first = story.acquire("w1", 7, 2s);
    story.show("w1", first, 2100ms, "hf1:a");
    story.release("w1", first, 2500ms);
    story.show("w1", first, 2600ms, "hf1:a");
    EXPECT_EQ(story.broken(), rules{});
    const auto heir = story.inherit("w1", 8, 1500ms, 1999ms, 2501ms);
    story.show("w1", heir, 2700ms, "hf1:a");
    EXPECT_EQ(story.broken(), rules{rule::shared_owner});
}

TEST(storm_checker, sees_an_owner_that_changes) {
    invented story;
    const auto first = story.acquire("w1", 7, 2s);
    story.show("w1", first, 2100ms, "hf1:a");
    story.show("w1", first, 2600ms, "hf1:b");
    EXPECT_EQ(story.broken(), rules{rule::shared_owner});
}

TEST(storm_checker, sees_an_update_lost_by_the_fenced_register_whatever_the_reason) {
    invented story;
    const auto first = story.acquire("w1", 7, 2s);
    const auto second = story.acquire("w2", 8, 5s);
    story.write("w2", second, 5500ms, "fenced:pears", "first", "b");
    story.write("w1", first, 6s, "fenced:pears", "first", "a");
    EXPECT_EQ(story.broken(), rules{rule::fenced_update});
}

TEST(storm_checker, explains_a_plain_update_lost_by_a_write_after_its_deadline) {
    invented story;
    const auto first = story.acquire("w1", 7, 2s);
    const auto second = story.acquire("w2", 8, 5s);
    story.write("w2", second, 5500ms, "plain:pears", "first", "b");
    story.write("w1", first, 6s, "plain:pears", "first", "a");
    EXPECT_EQ(story.broken(), rules{});
    EXPECT_EQ(story.judged().lost_after_deadline, 1U);
}

TEST(storm_checker, sees_a_plain_update_lost_by_two_writes_in_time) {
    invented story;
    const auto first = story.acquire("w1", 7, 2s);
    story.write("w1", first, 3s, "plain:pears", "first", "a");
    const auto second = story.acquire("w2", 8, 5s);
    story.write("w2", second, 6s, "plain:pears", "first", "b");
    EXPECT_EQ(story.broken(), rules{rule::plain_update});
}

TEST(storm_checker, counts_the_write_of_a_killed_worker_if_somebody_read_it) {
    invented story;
    const auto killed = story.acquire("w1", 7, 2s);
    story.note("w1", {.at = 3s,
                      .what = happening::intends,
                      .hold = killed,
                      .subject = "fenced:pears",
                      .text = "first a"});
    const auto second = story.acquire("w2", 8, 5s);
    story.write("w2", second, 6s, "fenced:pears", "first", "b");
    EXPECT_EQ(story.broken(), rules{});
    story.write("w2", second, 6100ms, "fenced:pears", "a", "c");
    EXPECT_EQ(story.broken(), rules{rule::fenced_update});
}

TEST(storm_checker, sees_a_release_by_somebody_who_had_lost_the_key_to_another) {
    invented story;
    const auto first = story.acquire("w1", 7, 2s);
    story.note("w1", {.at = 3900ms, .what = happening::warned, .hold = first});
    story.release("w2", story.acquire("w2", 8, 5s), 5500ms);
    story.release("w1", first, 6s, "released");
    EXPECT_EQ(story.broken(), rules{rule::foreign_release});
}

TEST(storm_checker, lets_a_late_release_find_nothing) {
    invented story;
    const auto first = story.acquire("w1", 7, 2s);
    story.note("w1", {.at = 3900ms, .what = happening::warned, .hold = first});
    story.release("w2", story.acquire("w2", 8, 5s), 5500ms);
    story.release("w1", first, 6s, "already_lost");
    EXPECT_EQ(story.broken(), rules{});
}

TEST(storm_checker, sees_a_key_that_went_away_in_mid_validity) {
    invented story;
    story.release("w1", story.acquire("w1", 7, 2s), 3s, "already_lost");
    story.strike(fault_kind::stop_server, 2500ms, 2900ms);
    story.strike(fault_kind::flush_all, 3500ms, 3501ms);
    EXPECT_EQ(story.broken(), rules{rule::needless_loss});
    story.strike(fault_kind::flush_all, 2500ms, 2501ms);
    EXPECT_EQ(story.broken(), rules{});
}

TEST(storm_checker, sees_a_loss_that_was_announced_late_or_never) {
    invented story;
    const auto first = story.acquire("w1", 7, 2s);
    story.note("w1", {.at = 4100ms, .what = happening::lost, .hold = first, .until = 4s});
    EXPECT_EQ(story.broken(), rules{rule::notice});
    story.note("w1", {.at = 4050ms, .what = happening::warned, .hold = first});
    EXPECT_EQ(story.broken(), rules{rule::notice});
    story.note("w1", {.at = 4200ms, .what = happening::stalled, .since = 3900ms});
    EXPECT_EQ(story.broken(), rules{});
}

TEST(storm_checker, counts_a_loss_that_was_announced_in_time) {
    invented story;
    const auto first = story.acquire("w1", 7, 2s);
    story.note("w1", {.at = 3700ms, .what = happening::warned, .hold = first});
    story.note("w1", {.at = 4100ms, .what = happening::lost, .hold = first, .until = 4s});
    EXPECT_EQ(story.broken(), rules{});
    EXPECT_EQ(story.judged().warned_in_time, 1U);
}

TEST(storm_checker, sees_a_standstill_while_only_a_minority_is_struck) {
    for (const auto* kind : {"minority", "anything"}) {
        invented story;
        story.phase(kind, 1s);
        story.release("w1", story.acquire("w1", 7, 2s), 3s);
        story.release("w1", story.acquire("w1", 8, 12s), 13s);
        story.phase("over", 14s);
        EXPECT_EQ(story.broken(),
                  kind == std::string("minority") ? rules{rule::progress} : rules{});
    }
}

TEST(storm_checker, sees_who_gets_nothing_after_healing_and_what_cannot_be_had) {
    invented story;
    story.note(
        "w2", {.at = 1s, .what = happening::began, .hold = threads_per_worker, .subject = "pears"});
    story.release("w1", story.acquire("w1", 7, 2s), 3s);
    story.phase("calm", 10s);
    story.phase("over", 30s);
    // w1, w2, and the key.
    EXPECT_EQ(story.broken(), (rules{rule::recovery, rule::recovery, rule::recovery}));
    story.release("w1", story.acquire("w1", 8, 15s), 16s);
    EXPECT_EQ(story.broken(), rules{rule::recovery});
    story.acquire("w2", 9, 21s);  // too late
    EXPECT_EQ(story.broken(), rules{rule::recovery});
}

TEST(storm_checker, excuses_who_stood_behind_long_holds_but_not_behind_a_crowd) {
    struct wait {
        instant began;
        std::chrono::milliseconds length;  // of the others' holds
        bool excused;
    };
    for (const auto& [began, length, excused] :
         {wait{1s, 1900ms, true}, wait{1s, 900ms, false}, wait{13s, 1900ms, true},
          wait{16s, 1900ms, false}}) {
        invented story;
        story.note("w2", {.at = began, .what = happening::began, .hold = 2, .subject = "pears"});
        story.phase("calm", 10s);
        std::uint64_t token = 7;
        for (instant at = 11s; at < 19s; at += length + 100ms) {
            story.release("w1", story.acquire("w1", ++token, at), at + length);
        }
        story.note("w2", {.at = 20500ms,
                          .what = happening::acquired,
                          .hold = 2,
                          .token = token + 1,
                          .until = 30s,
                          .since = 20400ms});
        story.phase("over", 21s);
        EXPECT_EQ(story.broken(), excused ? rules{} : rules{rule::recovery});
    }
}

TEST(storm_checker, excuses_who_gave_up_behind_long_holds_and_asked_again) {
    for (const auto length : {1900ms, 900ms}) {
        invented story;
        story.phase("calm", 10s);
        std::uint64_t token = 7;
        for (instant at = 10s; at < 20s; at += length + 100ms) {
            story.release("w1", story.acquire("w1", ++token, at), at + length);
        }
        std::uint64_t number = 2;
        for (instant at = 10100ms; at < 20s; at += 2s, number += 3) {
            story.note("w2",
                       {.at = at, .what = happening::began, .hold = number, .subject = "pears"});
            story.note("w2", {.at = at + 1900ms, .what = happening::denied, .hold = number});
        }
        story.phase("over", 21s);
        EXPECT_EQ(story.broken(), length > 1s ? rules{} : rules{rule::recovery});
    }
}

TEST(storm_checker, does_not_judge_a_recovery_that_was_interrupted) {
    invented story;
    story.acquire("w1", 7, 2s);
    story.phase("calm", 10s);
    story.phase("over", 12s);
    EXPECT_EQ(story.broken(), rules{});
}

TEST(storm_history, reads_what_was_written_and_leaves_out_half_a_line) {
    const test::scratch_directory directory("history");
    const event full{.at = 5s,
                     .what = happening::failed,
                     .hold = 3,
                     .subject = "pears",
                     .token = 9,
                     .until = 6s,
                     .since = 4s,
                     .text = "what the server  said"};
    const event bare{.at = 1ns, .what = happening::left};
    recorder(directory / "w1.history").note(full);
    recorder(directory / "w1.history").note(bare);
    std::ofstream(directory / "w1.history", std::ios::app) << "77 acquired 5 pea";
    const history read = read_history(directory / "w1.history");
    EXPECT_EQ(read.who, "w1");
    EXPECT_EQ(read.events, (std::vector{full, bare}));
}

TEST(storm_history, refuses_what_is_no_history) {
    EXPECT_THROW(from_line("5 exploded 1 - 0 0 0 "), std::runtime_error);
    EXPECT_THROW(from_line("yesterday"), std::runtime_error);
}

TEST(storm_report, tells_and_draws_what_was_broken) {
    invented story;
    story.strike(fault_kind::silence_replies, 1500ms, 2500ms);
    story.acquire("w1", 7, 2s);
    story.acquire("w2", 8, 3s);
    const account all = story.reconstructed();
    const verdict found = check(all);
    std::ostringstream summary;
    print_summary(summary, all, found);
    EXPECT_NE(summary.str().find("exclusion (T1): 1"), std::string::npos) << summary.str();
    EXPECT_NE(summary.str().find("silence-replies 1"), std::string::npos) << summary.str();
    std::ostringstream picture;
    draw_timeline(picture, all, found, all.begin, all.end);
    for (const auto* part : {"w1a pears", "silence-replies servers:1", "exclusion (T1)"}) {
        EXPECT_NE(picture.str().find(part), std::string::npos) << picture.str();
    }
}

}  // namespace
}  // namespace holdfast::storm
