#include "core/contention.hpp"

#include <gtest/gtest.h>

#include "unit/core_helpers.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

grant granted(std::uint64_t first, std::uint32_t more = 0) {
    return {.token = token(first), .hand_offs_left = more};
}

TEST(contention, is_not_known_of_at_first) {
    const auto now = contention{}.after({.gained = granted(7)});
    EXPECT_FALSE(now.known);
    EXPECT_EQ(now.spread, 0s);
    EXPECT_EQ(now.last, token(7));
}

TEST(contention, is_known_of_once_somebody_else_denied_us) {
    const auto now = contention{.in_vain = 3}.after({.denied = true, .gained = granted(7)});
    EXPECT_TRUE(now.known);
    EXPECT_EQ(now.in_vain, 0);
}

TEST(contention, is_known_of_where_a_token_was_drawn_by_somebody_else_meanwhile) {
    const contention before{.last = token(7)};
    EXPECT_TRUE(before.after({.gained = granted(9)}).known);
    EXPECT_FALSE(before.after({.gained = granted(8)}).known) << "the next is ours as well";
    EXPECT_FALSE(contention{}.after({.gained = granted(9)}).known)
        << "there is nothing to compare with";
    EXPECT_FALSE(before.after({.gained = granted(0)}).known) << "without fencing nothing is told";
}

TEST(contention, counts_the_tokens_that_were_drawn_for_heirs) {
    const auto now = contention{}.after({.gained = granted(7, 15)});
    EXPECT_EQ(now.last, token(22));
    EXPECT_FALSE(now.after({.gained = granted(23)}).known);
    EXPECT_TRUE(now.after({.gained = granted(24)}).known);
}

TEST(contention, is_forgotten_when_nobody_was_met_for_a_few_times) {
    contention now{.known = true};
    for (int n = 1; n < contention::most_in_vain; ++n) {
        now = now.after({});
        EXPECT_TRUE(now.known) << n;
    }
    EXPECT_FALSE(now.after({}).known);
    EXPECT_FALSE(now.after({}).after({}).known) << "and stays so";
    EXPECT_TRUE(now.after({.denied = true}).after({}).known) << "whoever is met counts anew";
}

TEST(contention, stays_away_less_after_the_lock_was_found_free_and_not_after_a_race) {
    EXPECT_EQ(contention{}.after({.denied = true, .raced = true, .spread = 4ms}).spread, 4ms);
    EXPECT_EQ(contention{}.after({.denied = true, .spread = 4ms}).spread, 3ms);
    EXPECT_EQ(contention{}.after({.spread = 80us}).spread, 0s) << "hardly anything is nothing";
}

TEST(contention, stays_away_longer_by_a_step_up_to_a_bound) {
    EXPECT_EQ(wider(0s), contention::step);
    EXPECT_EQ(wider(4ms), 4ms + contention::step);
    EXPECT_EQ(wider(contention::longest), contention::longest);
}

TEST(contention, leaves_it_to_chance_when_exactly_it_comes_back) {
    EXPECT_EQ(while_away(4ms, 0), 3ms);
    EXPECT_EQ(while_away(4ms, 1'999'999), 5ms - 1ns);
    EXPECT_EQ(while_away(0s, 12'345), 0s);
}

}  // namespace
}  // namespace holdfast::core
