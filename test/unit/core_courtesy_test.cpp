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

}  // namespace
}  // namespace holdfast::core
