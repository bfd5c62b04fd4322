#include "core/yield_policy.hpp"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

constexpr time_point at(duration when) { return time_point{100s + when}; }
constexpr duration no_pause{0};

/// Has had the lock from zero on, and lets go of it at `until`. Returns the pause.
duration pause_after(yield_policy& manners, duration until) {
    manners.freed(at(until));
    return manners.pause(at(until));
}

TEST(yield_policy, leaves_no_gap_at_first) {
    yield_policy manners;
    EXPECT_EQ(manners.pause(at(0s)), no_pause);
    manners.won(at(0s), at(0s));
    EXPECT_EQ(pause_after(manners, yield_policy::soonest - 1ns), no_pause);
}

TEST(yield_policy, leaves_a_gap_when_the_process_has_had_the_lock_for_long) {
    yield_policy manners;
    manners.won(at(0s), at(0s));
    manners.won(at(10ms), at(10ms));  // again, without a gap
    EXPECT_EQ(pause_after(manners, yield_policy::soonest), yield_policy::shortest_gap);
    EXPECT_EQ(manners.pause(at(yield_policy::soonest)), no_pause) << "one is enough";
}

TEST(yield_policy, leaves_a_gap_as_long_as_others_need_to_ask) {
    yield_policy manners;
    manners.won(at(0s), at(4ms));
    EXPECT_EQ(pause_after(manners, 100ms), 8ms);
    manners.won(at(200ms), at(500ms));
    EXPECT_EQ(pause_after(manners, 1s), yield_policy::longest_gap);
}

TEST(yield_policy, counts_from_the_last_gap) {
    yield_policy manners;
    manners.won(at(0s), at(0s));
    manners.freed(at(5ms));
    EXPECT_EQ(manners.pause(at(5ms + yield_policy::shortest_gap)), no_pause);
    manners.won(at(7ms), at(7ms));
    EXPECT_EQ(pause_after(manners, 7ms + yield_policy::soonest - 1ns), no_pause);
    EXPECT_EQ(pause_after(manners, 7ms + yield_policy::soonest), yield_policy::shortest_gap);
}

TEST(yield_policy, waits_longer_each_time_when_nobody_used_the_gap) {
    yield_policy manners;
    auto now = 0ns;
    for (auto allowance = yield_policy::soonest; allowance <= yield_policy::latest * 4;
         allowance *= 2) {
        const auto expected = std::min(allowance, yield_policy::latest);
        manners.won(at(now), at(now));
        EXPECT_EQ(pause_after(manners, now + expected - 1ns), no_pause);
        EXPECT_EQ(pause_after(manners, now + expected), yield_policy::shortest_gap);
        now += expected + yield_policy::shortest_gap;
    }
}

TEST(yield_policy, is_quick_to_leave_a_gap_again_after_a_rival_was_met) {
    yield_policy manners;
    manners.won(at(0s), at(0s));
    EXPECT_EQ(pause_after(manners, yield_policy::soonest), yield_policy::shortest_gap);
    manners.won(at(30ms), at(30ms));
    manners.denied();
    manners.won(at(40ms), at(40ms));
    EXPECT_EQ(pause_after(manners, 40ms + yield_policy::soonest), yield_policy::shortest_gap);
}

}  // namespace
}  // namespace holdfast::core
