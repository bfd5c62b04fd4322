#include "core/courtesy.hpp"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

constexpr time_point at(duration when) { return time_point{100s + when}; }
constexpr duration no_pause{0};

/// Has had the lock from zero on, and lets go of it at `until`. Returns the pause.
duration pause_after(courtesy& manners, duration until) {
    manners.freed(at(until));
    return manners.pause(at(until));
}

TEST(courtesy, leaves_no_gap_at_first) {
    courtesy manners;
    EXPECT_EQ(manners.pause(at(0s)), no_pause);
    manners.won(at(0s), at(0s));
    EXPECT_EQ(pause_after(manners, courtesy::soonest - 1ns), no_pause);
}

TEST(courtesy, leaves_a_gap_when_the_process_has_had_the_lock_for_long) {
    courtesy manners;
    manners.won(at(0s), at(0s));
    manners.won(at(10ms), at(10ms));  // again, without a gap
    EXPECT_EQ(pause_after(manners, courtesy::soonest), courtesy::shortest_gap);
    EXPECT_EQ(manners.pause(at(courtesy::soonest)), no_pause) << "one is enough";
}

TEST(courtesy, leaves_a_gap_as_long_as_others_need_to_ask) {
    courtesy manners;
    manners.won(at(0s), at(4ms));
    EXPECT_EQ(pause_after(manners, 100ms), 8ms);
    manners.won(at(200ms), at(500ms));
    EXPECT_EQ(pause_after(manners, 1s), courtesy::longest_gap);
}

TEST(courtesy, counts_from_the_last_gap) {
    courtesy manners;
    manners.won(at(0s), at(0s));
    manners.freed(at(5ms));
    EXPECT_EQ(manners.pause(at(5ms + courtesy::shortest_gap)), no_pause);
    manners.won(at(7ms), at(7ms));
    EXPECT_EQ(pause_after(manners, 7ms + courtesy::soonest - 1ns), no_pause);
    EXPECT_EQ(pause_after(manners, 7ms + courtesy::soonest), courtesy::shortest_gap);
}

TEST(courtesy, waits_longer_each_time_when_nobody_used_the_gap) {
    courtesy manners;
    auto now = 0ns;
    for (auto allowance = courtesy::soonest; allowance <= courtesy::latest * 4; allowance *= 2) {
        const auto expected = std::min(allowance, courtesy::latest);
        manners.won(at(now), at(now));
        EXPECT_EQ(pause_after(manners, now + expected - 1ns), no_pause);
        EXPECT_EQ(pause_after(manners, now + expected), courtesy::shortest_gap);
        now += expected + courtesy::shortest_gap;
    }
}

TEST(courtesy, is_quick_to_leave_a_gap_again_after_a_rival_was_met) {
    courtesy manners;
    manners.won(at(0s), at(0s));
    EXPECT_EQ(pause_after(manners, courtesy::soonest), courtesy::shortest_gap);
    manners.won(at(30ms), at(30ms));
    manners.denied();
    manners.won(at(40ms), at(40ms));
    EXPECT_EQ(pause_after(manners, 40ms + courtesy::soonest), courtesy::shortest_gap);
}

TEST(courtesy, knows_what_head_start_others_need_when_the_process_has_just_let_go) {
    courtesy manners;
    manners.won(at(0s), at(80us));
    manners.freed(at(1ms));
    EXPECT_EQ(manners.head_start(at(1ms)), courtesy::shortest_head_start);
    EXPECT_EQ(manners.head_start(at(1ms + courtesy::shortest_head_start)), 0s)
        << "they have had it";
}

TEST(courtesy, learns_the_head_start_slowly_from_slow_answers_and_at_once_from_quick_ones) {
    courtesy manners;
    manners.won(at(0s), at(4ms));
    manners.freed(at(4ms));
    EXPECT_EQ(manners.head_start(at(4ms)), 1ms) << "an eighth of twice as long";
    manners.won(at(10ms), at(10ms + 200us));
    manners.freed(at(11ms));
    EXPECT_EQ(manners.head_start(at(11ms)), 400us);
    for (int n = 0; n < 100; ++n) manners.won(at(1s), at(2s));
    manners.freed(at(2s));
    EXPECT_EQ(manners.head_start(at(2s)), courtesy::longest_gap);
}

TEST(courtesy, leaves_both_to_the_next) {
    courtesy manners;
    manners.won(at(0s), at(0s));
    manners.freed(at(courtesy::soonest));
    const auto left = manners.next(at(courtesy::soonest));
    EXPECT_EQ(left.pause, courtesy::shortest_gap);
    EXPECT_EQ(left.head_start, courtesy::shortest_head_start);
}

}  // namespace
}  // namespace holdfast::core
