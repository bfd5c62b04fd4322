// What the checker makes of the wait queue at the only server.

#include <gtest/gtest.h>

#include "storm/coverage.hpp"
#include "storm/invented.hpp"
#include "storm/line_counts.hpp"

namespace holdfast::storm {
namespace {

constexpr std::uint64_t some_hold = threads_per_worker * 50;

TEST(storm_checker, reads_who_stands_in_line) {
    const claimant gone = claimant_from("w3:17:ab!");
    EXPECT_EQ(gone.worker, "w3");
    EXPECT_EQ(gone.process, 17U);
    EXPECT_EQ(gone.nonce, "ab");
    EXPECT_FALSE(gone.callable);
    EXPECT_EQ(to_word(gone), "w3:17:ab!");
    EXPECT_TRUE(claimant_from("-").nobody());
    EXPECT_EQ(to_word({}), "-");
    EXPECT_THROW(claimant_from("w3"), std::runtime_error);
}

TEST(storm_checker, finds_nothing_in_a_line_that_moves_on) {
    invented story;
    story.employ();
    for (const auto* who : {"w2", "w3", "w4"}) story.wish(who, some_hold, 1s);
    story.see(2s, 2100ms, "w1:1:a w2:2:b w3:3:c w4:4:d");
    story.see(2110ms, 2200ms, "w2:2:b w3:3:c w4:4:d");
    story.see(2210ms, 2300ms, "w4:4:d");  // w3 had it for a moment
    story.see(2310ms, 2400ms, "-");
    EXPECT_EQ(story.broken(), rules{});
    EXPECT_EQ(story.judged().grants_compared, 2U);
}

TEST(storm_checker, sees_who_is_granted_the_lock_ahead_of_one_who_came_before) {
    struct excuse {
        std::string before;
        std::string after;
        bool excused;
    };
    for (const auto& [before, after, excused] :
         {excuse{"w1:1:a w2:2:b w3:3:c", "w3:3:c w2:2:b", false},
          excuse{"w1:1:a w2:2:b! w3:3:c", "w3:3:c w2:2:b", true},  // nobody listened
          excuse{"w1:1:a w2:2:b w3:3:c", "w3:3:c w2:2:b!", true},
          excuse{"w1:1:a w2:2:b w3:3:c", "w3:3:c w2:2:f", true},  // gave up, and came again
          excuse{"w1:1:a w3:3:c w2:2:b", "w3:3:c w2:2:b", true},
          excuse{"w1:1:a w2:2:b w2:2:c", "w2:2:c w2:2:b", false}}) {  // fair callers of one process
        invented story;
        story.employ();
        for (const auto* who : {"w2", "w3"}) story.wish(who, some_hold, 1s);
        story.see(2s, 2100ms, before);
        story.see(2110ms, 2200ms, after);
        EXPECT_EQ(story.broken(), excused ? rules{} : rules{rule::order})
            << before << "; " << after;
    }
}

/// w3 has the lock ahead of w2, which stood in line before it.
invented overtaking(instant next_look) {
    invented story;
    story.employ();
    for (const auto* who : {"w2", "w3"}) story.wish(who, some_hold, 1s);
    story.see(2s, 2100ms, "w1:1:a w2:2:b w3:3:c");
    story.see(next_look, next_look + 50ms, "w3:3:c w2:2:b");
    return story;
}

TEST(storm_checker, excuses_a_line_that_was_forgotten_left_or_not_seen_for_a_while) {
    EXPECT_EQ(overtaking(2150ms).broken(), rules{rule::order});
    EXPECT_EQ(overtaking(2400ms).broken(), rules{});
    auto story = overtaking(2150ms);
    story.strike(fault_kind::delay, 2120ms, 2121ms);
    EXPECT_EQ(story.broken(), rules{rule::order});
    story.strike(fault_kind::flush_all, 2120ms, 2121ms);
    EXPECT_EQ(story.broken(), rules{});
    story = overtaking(2150ms);
    story.strike(fault_kind::delete_lock, 2120ms, 2121ms);
    EXPECT_EQ(story.broken(), rules{}) << "it was granted the lock, which was gone when it asked";
    story = overtaking(2150ms);
    story.note("w2", {.at = 2160ms, .what = happening::connected});
    EXPECT_EQ(story.broken(), rules{});
    story = overtaking(2150ms);
    story.strike_worker(fault_kind::stop_worker, 2, 2050ms, 2140ms);
    EXPECT_EQ(story.broken(), rules{});
}

/// w2 stands in line, does not, and perhaps does again.
invented displaced(const std::string& meanwhile, const std::string& at_last, instant then) {
    invented story;
    story.employ();
    for (const auto* who : {"w2", "w3"}) story.wish(who, some_hold, 1s);
    story.see(2s, 2100ms, "w1:1:a w2:2:b w3:3:c");
    story.see(2110ms, 2150ms, meanwhile);
    story.see(then, then + 50ms, at_last);
    return story;
}

TEST(storm_checker, sees_who_loses_its_place_in_line) {
    auto story = displaced("w1:1:a w3:3:c", "w3:3:c w2:2:b", 2160ms);
    EXPECT_EQ(story.broken(), rules{rule::order});
    story.note("w2", {.at = 2170ms, .what = happening::connected});
    EXPECT_EQ(story.broken(), rules{});
    // It was granted the lock; is another attempt; may have been granted the lock.
    EXPECT_EQ(displaced("w2:2:b w3:3:c", "w3:3:c w2:2:b", 2160ms).broken(), rules{});
    EXPECT_EQ(displaced("w1:1:a w3:3:c", "w3:3:c w2:2:f", 2160ms).broken(), rules{});
    EXPECT_EQ(displaced("w1:1:a w3:3:c", "w3:3:c w2:2:b", 2500ms).broken(), rules{});
}

/// w2 is in line from 2510 ms on, unless it comes later. w3 comes at 3 s, and has the lock for a
/// moment: no look meets it there.
invented passing(instant w2_comes, const std::string& meanwhile, const std::string& at_last,
                 const std::string& before = "w1:1:a w2:2:b") {
    invented story;
    story.employ();
    story.wish("w2", some_hold, 1s);
    story.see(1600ms, w2_comes - 10ms, "w1:1:a");
    story.see(w2_comes, 3100ms, before);
    story.see(3101ms, 3105ms, meanwhile);
    story.see(3110ms, 3300ms, at_last);
    story.release("w3", story.acquire("w3", 8, 3007ms), 3008ms);
    return story;
}

TEST(storm_checker, sees_who_comes_later_and_passes_the_line) {
    auto story = passing(2510ms, "- w2:2:b", "- w2:2:b");
    EXPECT_EQ(story.broken(), rules{rule::order});
    EXPECT_EQ(story.judged().arrivals_compared, 1U);
    story.release("w1", story.acquire("w1", 7, 1500ms), 3004ms);
    EXPECT_EQ(story.broken(), rules{rule::order});
    story.note("w2", {.at = 3105ms, .what = happening::connected});
    EXPECT_EQ(story.broken(), rules{});
    // It was there first; w2 was not there all the time, or could not be called.
    EXPECT_EQ(passing(3008ms, "- w2:2:b", "- w2:2:b").broken(), rules{});
    EXPECT_EQ(passing(2510ms, "-", "- w2:2:f").broken(), rules{});
    EXPECT_EQ(passing(2510ms, "- w2:2:b!", "- w2:2:b").broken(), rules{});
}

TEST(storm_checker, lets_who_comes_later_have_the_place_of_another_of_its_process) {
    const auto after = [](const std::string& before) {
        return passing(2510ms, "- w2:2:b", "- w2:2:b", before).broken();
    };
    EXPECT_EQ(after("w1:1:a w3:3:d w2:2:b"), rules{});
    EXPECT_EQ(after("w1:1:a w2:2:b w3:3:d"), rules{rule::order});
}

TEST(storm_checker, lets_set_nx_pass_the_line_where_a_lease_ran_out_or_was_deleted) {
    auto story = passing(2510ms, "- w2:2:b", "- w2:2:b");
    story.strike(fault_kind::delete_lock, 3001ms, 3002ms);
    EXPECT_EQ(story.broken(), rules{});
    story = passing(2510ms, "- w2:2:b", "- w2:2:b");
    const auto left = story.acquire("w1", 7, 1s);
    story.note("w1", {.at = 1500ms, .what = happening::left, .hold = left});
    EXPECT_EQ(story.broken(), rules{});
}

TEST(storm_checker, sees_a_fair_caller_that_was_handed_the_lock_in_its_process) {
    for (const auto* how : {"patient", "patient fair"}) {
        invented story;
        story.release("w1", story.acquire("w1", 7, 2s), 2500ms);
        const auto heir = story.inherit("w1", 8, 1500ms, 1999ms, 2501ms, how);
        story.release("w1", heir, 2600ms);
        EXPECT_EQ(story.broken(), how == std::string("patient") ? rules{} : rules{rule::order});
    }
}

/// Looks that all find the same, each for up to a second.
void see_for(invented& story, instant begin, instant end, const std::string& what) {
    for (instant at = begin; at < end; at += 1s) story.see(at, std::min(at + 990ms, end), what);
}

invented lying(const std::string& what, instant end) {
    invented story;
    story.employ();
    story.wish("w2", some_hold, 1s);
    see_for(story, 10s, end, what);
    return story;
}

TEST(storm_checker, sees_a_lock_that_nobody_takes_while_others_stand_in_line) {
    EXPECT_EQ(lying("- w2:2:b", 11500ms).broken(), rules{});
    EXPECT_EQ(lying("- w2:2:b!", 13s).broken(), rules{});
    EXPECT_EQ(lying("- w2:2:b", 13s).broken(), rules{rule::unclaimed_lock});
    EXPECT_EQ(lying("w1:1:a w2:2:b", 13s).broken(), rules{rule::unclaimed_lock});
}

TEST(storm_checker, excuses_who_cannot_take_a_lock) {
    auto story = lying("- w2:2:b", 13s);
    story.strike(fault_kind::flush_all, 6s, 6001ms);  // the quarantine
    EXPECT_EQ(story.broken(), rules{});
    story = lying("- w2:2:b", 13s);
    story.note("w2", {.at = 11s, .what = happening::stalled, .since = 10900ms});
    EXPECT_EQ(story.broken(), rules{});
    story = lying("- w2:2:b", 13s);
    story.kill(2, 10500ms);
    EXPECT_EQ(story.broken(), rules{});
    story = lying("w1:1:a w2:2:b", 13s);
    story.note("w1", {.at = 12s, .what = happening::connected});
    EXPECT_EQ(story.broken(), rules{});
}

TEST(storm_checker, lets_a_holder_keep_the_lock_while_others_stand_in_line) {
    invented story;
    story.employ();
    story.wish("w2", some_hold, 1s);
    const auto first = story.acquire("w1", 7, 10100ms);
    story.note("w1", {.at = 12s, .what = happening::extended, .hold = first, .until = 16s});
    see_for(story, 10s, 15s, "w1:1:a w2:2:b");
    story.release("w1", first, 15s);
    EXPECT_EQ(story.broken(), rules{});
}

TEST(storm_checker, sees_a_lock_that_stays_with_one_who_stands_still) {
    for (const instant end : {12200ms, 15000ms}) {
        auto frozen = lying("w1:1:a w2:2:b", end);
        frozen.strike_worker(fault_kind::stop_worker, 1, 9s, 16s);
        EXPECT_EQ(frozen.broken(), end < 13s ? rules{} : rules{rule::unclaimed_lock});
        EXPECT_EQ(frozen.judged().passed_over, 1U);
    }
}

TEST(storm_checker, counts_from_when_a_holder_stood_still) {
    for (const instant end : {15s, 18s}) {
        auto frozen = lying("w1:1:a w2:2:b", end);
        const auto held = frozen.acquire("w1", 7, 10100ms);
        frozen.note("w1", {.at = 13900ms, .what = happening::extended, .hold = held, .until = 16s});
        frozen.strike_worker(fault_kind::stop_worker, 1, 14s, 19s);
        EXPECT_EQ(frozen.broken(), end < 17s ? rules{} : rules{rule::unclaimed_lock});
    }
}

TEST(storm_checker, sees_a_lock_that_stays_with_the_dead) {
    for (const instant end : {12200ms, 15000ms}) {
        auto dead = lying("w1:1:a w2:2:b", end);
        dead.kill(1, 9s);
        EXPECT_EQ(dead.broken(), end < 13s ? rules{} : rules{rule::unclaimed_lock});
        EXPECT_EQ(dead.judged().passed_over, 1U);
    }
}

TEST(storm_checker, sees_a_grant_to_one_whose_death_the_server_knew_of) {
    for (const auto* word : {"w2:2:b!", "w2:2:b"}) {
        invented story;
        story.employ();
        for (const auto* who : {"w2", "w3"}) story.wish(who, some_hold, 9s);
        story.kill(2, 9500ms);
        story.see(10s, 10100ms, std::string("w1:1:a ") + word + " w3:3:c");
        story.see(10110ms, 10200ms, "w2:2:b w3:3:c");
        EXPECT_EQ(story.broken(),
                  word == std::string("w2:2:b") ? rules{} : rules{rule::unclaimed_lock});
    }
}

invented dead_in_line_until(instant end) {
    invented story;
    story.employ();
    story.wish("w2", some_hold, 9s);
    story.kill(2, 10s);
    see_for(story, 10s, end, "- w2:2:b!");
    return story;
}

TEST(storm_checker, sees_the_dead_in_line) {
    EXPECT_EQ(dead_in_line_until(20s).broken(), rules{});
    EXPECT_EQ(dead_in_line_until(22s).broken(), rules{rule::gone_in_line});
    auto struck = dead_in_line_until(22s);
    struck.strike(fault_kind::silence, 12s, 13s);
    EXPECT_EQ(struck.broken(), rules{});
    auto held_up = dead_in_line_until(22s);
    std::uint64_t token = 7;
    for (const instant at : {11s, 13s, 15s, 17s}) {
        held_up.release("w1", held_up.acquire("w1", ++token, at), at + 1900ms);
    }
    EXPECT_EQ(held_up.broken(), rules{});
}

/// w2 is seen in line until 13.5 s. Somebody else of its process comes at 11 s.
invented abandoned(happening how, instant at) {
    invented story;
    story.employ();
    story.wish("w2", some_hold, 9s);
    story.note("w2", {.at = at, .what = how, .hold = some_hold});
    story.wish("w2", some_hold + 1, 11s);
    const auto first = story.acquire("w1", 7, 9400ms);
    story.note("w1", {.at = 10s, .what = happening::extended, .hold = first, .until = 15s});
    see_for(story, 9500ms, 13500ms, "w1:1:a w2:2:b");
    return story;
}

TEST(storm_checker, sees_an_entry_whose_waiter_has_left) {
    EXPECT_EQ(abandoned(happening::denied, 10s).broken(), rules{rule::gone_in_line});
    EXPECT_EQ(abandoned(happening::cancelled, 10s).broken(), rules{rule::gone_in_line});
    EXPECT_EQ(abandoned(happening::denied, 12s).broken(), rules{});
    auto struck = abandoned(happening::denied, 10s);
    struck.strike(fault_kind::silence, 9500ms, 10500ms);
    EXPECT_EQ(struck.broken(), rules{});
    auto strayed = abandoned(happening::denied, 10s);
    strayed.note("w2", {.at = 9s, .what = happening::connected});
    EXPECT_EQ(strayed.broken(), rules{}) << "it has its turn when w1 lets go";
    auto anew = abandoned(happening::denied, 10s);
    anew.note("w2", {.at = 12s, .what = happening::connected});
    EXPECT_EQ(anew.broken(), rules{});
}

TEST(storm_checker, sees_more_entries_of_a_process_than_it_has_waiters) {
    const auto with = [](const std::string& how) {
        invented story;
        story.employ();
        story.wish("w2", some_hold, 9s, how);
        story.wish("w2", some_hold + 1, 9s);
        const auto first = story.acquire("w1", 7, 9400ms);
        story.note("w1", {.at = 10s, .what = happening::extended, .hold = first, .until = 15s});
        see_for(story, 9500ms, 13500ms, "w1:1:a w2:2:b w2:2:c");
        return story.broken();
    };
    EXPECT_EQ(with("fair"), rules{});
    EXPECT_EQ(with(""), (rules{rule::gone_in_line, rule::gone_in_line}));
}

TEST(storm_checker, sees_who_stands_in_line_for_ever) {
    for (const instant end : {18s, 22s}) {
        invented story;
        story.employ();
        story.wish("w2", some_hold, 9s);
        std::uint64_t token = 7;
        for (instant at = 10s; at < end; at += 1s) {
            story.release("w1", story.acquire("w1", ++token, at), at + 900ms);
            story.see(at, at + 990ms, "w1:1:" + std::to_string(token) + " w2:2:b");
        }
        const rules broken = story.broken();  // the order, too, whenever w1 comes again
        EXPECT_EQ(std::count(broken.begin(), broken.end(), rule::recovery), end < 20s ? 0 : 1);
    }
}

TEST(storm_checker, excuses_who_stands_in_line_behind_some_who_are_frozen_one_after_the_other) {
    for (const bool frozen : {false, true}) {
        invented story;
        story.employ();
        story.wish("w2", some_hold, 9s);
        int turn = 0;
        for (instant at = 10s; at < 22s; at += 2s, ++turn) {
            const int who = turn % 2 == 0 ? 1 : 3;
            const std::string name = std::to_string(who);
            if (frozen) story.strike_worker(fault_kind::stop_worker, who, at, at + 1900ms);
            story.see(at, at + 1900ms,
                      "w" + name + ":" + name + ":" + std::to_string(turn) + " w2:2:b");
        }
        const rules broken = story.broken();
        EXPECT_EQ(std::count(broken.begin(), broken.end(), rule::recovery), frozen ? 0 : 1);
    }
}

TEST(storm_checker, sees_what_is_left_behind) {
    invented story;
    story.phase("over", 10s);
    story.note("nemesis", {.at = 12s, .what = happening::cleared});
    EXPECT_EQ(story.broken(), rules{});
    story.note("nemesis",
               {.at = 22s, .what = happening::remained, .subject = "holdfast:{a}:queue"});
    EXPECT_EQ(story.broken(), rules{rule::left_behind});
}

/// w1 has it in every round, w2 in every nth.
invented rush(int rounds, int nth) {
    invented story;
    story.phase("rush", 10s);
    std::uint64_t token = 0;
    for (int n = 0; n < rounds; ++n) {
        const instant at = 13s + n * 40ms;
        story.release("w1", story.acquire("w1", ++token, at + 1ms, "apples"), at + 2ms);
        if (n % nth != 0) continue;
        story.release("w2", story.acquire("w2", ++token, at + 11ms, "apples"), at + 12ms);
    }
    return story;
}

TEST(storm_checker, sees_a_process_that_has_less_of_the_lock_than_another) {
    auto uneven = rush(100, 2);
    uneven.phase("over", 18s);
    EXPECT_EQ(uneven.broken(), rules{rule::shares});
    auto even = rush(100, 1);
    even.phase("over", 18s);
    EXPECT_EQ(even.broken(), rules{});
    EXPECT_EQ(even.judged().shares_compared, 1U);
}

TEST(storm_checker, compares_no_shares_of_who_starved_or_in_a_short_time) {
    auto few = rush(30, 2);
    few.phase("over", 18s);
    auto starved = rush(100, 2);
    starved.note("w2", {.at = 15s, .what = happening::stalled, .since = 14s});
    starved.phase("over", 18s);
    auto interrupted = rush(100, 2);
    interrupted.phase("over", 12s);
    for (const auto* story : {&few, &starved, &interrupted}) {
        EXPECT_EQ(story->broken(), rules{});
        EXPECT_EQ(story->judged().shares_compared, 0U);
    }
}

TEST(storm_checker, sees_a_storm_in_which_nothing_happened_in_line) {
    invented story;
    story.employ();
    story.release("w1", story.acquire("w1", 7, 2s), 2500ms);
    story.release("w1", story.inherit("w1", 8, 1500ms, 1999ms, 2501ms), 2600ms);
    story.phase("waiters", 3s);
    story.strike_worker(fault_kind::stop_worker, 3, 4s, 5s);
    EXPECT_EQ(not_covered(story.reconstructed()).size(), 8U);
    story.wish("w2", some_hold, 3s, "patient fair");
    story.wish("w3", some_hold, 3s, "limited");
    story.wish("w4", some_hold, 3s, "cancelled");
    story.see(4s, 4100ms, "w1:1:a w3:3:b w4:4:c w2:2:d");
    story.note("w4", {.at = 4200ms, .what = happening::cancelled, .hold = some_hold});
    story.kill(4, 5s);
    story.see(4900ms, 5100ms, "w3:3:b w4:4:c! w2:2:d");
    story.note("w3", {.at = 6s, .what = happening::denied, .hold = some_hold});
    story.note("w2", {.at = 7s,
                      .what = happening::acquired,
                      .hold = some_hold,
                      .token = 9,
                      .until = 8s,
                      .since = 6999ms});
    story.note("nemesis", {.at = 9s, .what = happening::cleared});
    EXPECT_EQ(not_covered(story.reconstructed()), std::vector<std::string>{});
    const line_counts seen = count_lines(story.reconstructed());
    EXPECT_EQ(seen.in_line, 3U);
    EXPECT_EQ(seen.granted, 1U);
    EXPECT_EQ(seen.longest, 3U);
    EXPECT_EQ(seen.frozen_first, 1U);
    EXPECT_EQ(seen.killed_first, 1U);
    EXPECT_EQ(seen.cancelled, 1U);
    EXPECT_EQ(seen.timed_out, 1U);
}

}  // namespace
}  // namespace holdfast::storm
