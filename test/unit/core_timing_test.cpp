#include "core/timing.hpp"

#include <gtest/gtest.h>

#include "unit/core_helpers.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

TEST(timing, guards_a_hundredth_of_the_ttl_and_two_milliseconds) {
    EXPECT_EQ(timing{.ttl = 10s}.guard(), 102ms);
    EXPECT_EQ(timing{.ttl = 100ms}.guard(), 3ms);
    EXPECT_EQ(timing{.ttl = 0s}.guard(), 2ms);
}

TEST(timing, guards_at_least_the_lock_delay) {
    EXPECT_EQ((timing{.ttl = 10s, .guard_time = 101ms}.guard()), 102ms);
    EXPECT_EQ((timing{.ttl = 10s, .guard_time = 102ms}.guard()), 102ms);
    EXPECT_EQ((timing{.ttl = 10s, .guard_time = 103ms}.guard()), 103ms);
}

TEST(timing, guards_more_where_clocks_are_worse) {
    EXPECT_EQ((timing{.ttl = 10s, .drift_per_mille = 50}.guard()), 502ms);
    EXPECT_EQ((timing{.ttl = 10s, .drift_per_mille = 0}.guard()), 2ms);
}

TEST(timing, believes_in_a_lease_from_before_it_was_asked_for) {
    EXPECT_EQ(timing{.ttl = 10s}.valid_until(at(5s)), at(15s - 102ms));
    EXPECT_EQ((timing{.ttl = 10s, .guard_time = 1s}.valid_until(at(5s))), at(14s));
}

TEST(timing, does_not_overflow_with_a_ttl_of_a_year) {
    constexpr auto year = std::chrono::hours{24 * 365};
    EXPECT_EQ(timing{.ttl = year}.guard(), duration{year} / 100 + 2ms);
}

TEST(after, adds) { EXPECT_EQ(after(at(1s), 2s), at(3s)); }

TEST(after, is_never_where_the_sum_would_overflow) {
    EXPECT_EQ(after(at(1s), duration::max()), never);
    EXPECT_EQ(after(never, 0ns), never);
    EXPECT_EQ(after(never - 1ns, 1ns), never);
    EXPECT_EQ(after(never - 2ns, 1ns), never - 1ns);
}

}  // namespace
}  // namespace holdfast::core
