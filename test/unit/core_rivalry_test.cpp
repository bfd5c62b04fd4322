#include "core/rivalry.hpp"

#include <gtest/gtest.h>

#include "unit/core_helpers.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

estate grant(std::uint64_t first, std::uint32_t heirs = 0) {
    return {.token = token(first), .heirs = heirs};
}

TEST(rivalry, is_not_known_of_at_first) {
    const auto now = rivalry{}.after({.gained = grant(7)});
    EXPECT_FALSE(now.known);
    EXPECT_EQ(now.spread, 0s);
    EXPECT_EQ(now.last, token(7));
}

TEST(rivalry, is_known_of_once_somebody_else_denied_us) {
    const auto now = rivalry{.in_vain = 3}.after({.denied = true, .gained = grant(7)});
    EXPECT_TRUE(now.known);
    EXPECT_EQ(now.in_vain, 0);
}

TEST(rivalry, is_known_of_where_a_token_was_drawn_by_somebody_else_meanwhile) {
    const rivalry before{.last = token(7)};
    EXPECT_TRUE(before.after({.gained = grant(9)}).known);
    EXPECT_FALSE(before.after({.gained = grant(8)}).known) << "the next is ours as well";
    EXPECT_FALSE(rivalry{}.after({.gained = grant(9)}).known) << "there is nothing to compare with";
    EXPECT_FALSE(before.after({.gained = grant(0)}).known) << "without fencing nothing is told";
}

TEST(rivalry, counts_the_tokens_that_were_drawn_for_heirs) {
    const auto now = rivalry{}.after({.gained = grant(7, 15)});
    EXPECT_EQ(now.last, token(22));
    EXPECT_FALSE(now.after({.gained = grant(23)}).known);
    EXPECT_TRUE(now.after({.gained = grant(24)}).known);
}

TEST(rivalry, is_forgotten_when_nobody_was_met_for_a_few_times) {
    rivalry now{.known = true};
    for (int n = 1; n < rivalry::most_in_vain; ++n) {
        now = now.after({});
        EXPECT_TRUE(now.known) << n;
    }
    EXPECT_FALSE(now.after({}).known);
    EXPECT_FALSE(now.after({}).after({}).known) << "and stays so";
    EXPECT_TRUE(now.after({.denied = true}).after({}).known) << "whoever is met counts anew";
}

TEST(rivalry, stays_away_less_after_the_lock_was_found_free_and_not_after_a_race) {
    EXPECT_EQ(rivalry{}.after({.denied = true, .raced = true, .spread = 4ms}).spread, 4ms);
    EXPECT_EQ(rivalry{}.after({.denied = true, .spread = 4ms}).spread, 3ms);
    EXPECT_EQ(rivalry{}.after({.spread = 80us}).spread, 0s) << "hardly anything is nothing";
}

TEST(rivalry, stays_away_longer_by_a_step_up_to_a_bound) {
    EXPECT_EQ(wider(0s), rivalry::step);
    EXPECT_EQ(wider(4ms), 4ms + rivalry::step);
    EXPECT_EQ(wider(rivalry::longest), rivalry::longest);
}

TEST(rivalry, leaves_it_to_chance_when_exactly_it_comes_back) {
    EXPECT_EQ(while_away(4ms, 0), 3ms);
    EXPECT_EQ(while_away(4ms, 1'999'999), 5ms - 1ns);
    EXPECT_EQ(while_away(0s, 12'345), 0s);
}

}  // namespace
}  // namespace holdfast::core
