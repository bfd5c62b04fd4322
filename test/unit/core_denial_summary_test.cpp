#include <gtest/gtest.h>

#include <vector>

#include "core/contend.hpp"
#include "unit/core_helpers.hpp"

// What a denied attempt concludes about those who denied it.
namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using times = std::vector<duration>;

constexpr denial_summary left(duration remaining) { return {.remaining = remaining}; }

TEST(denial_summary, is_the_holder_of_a_single_node) {
    const times denied{3s};
    EXPECT_EQ(summarize({.remaining = denied, .strongest = 1, .tracked = true}),
              (denial_summary{.remaining = 3s, .tracked = true}));
    EXPECT_EQ(summarize({.remaining = denied, .strongest = 1}), left(3s));
}

TEST(denial_summary, lets_go_when_a_majority_would_be_free) {
    const times three{3s, 1s, 2s};
    EXPECT_EQ(summarize({.remaining = three, .nodes = 3, .strongest = 3}), left(2s));
    const times two{3s, 1s};
    EXPECT_EQ(summarize({.remaining = two, .nodes = 3, .strongest = 2}), left(1s));
    const times four{4s, 3s, 1s, 2s};
    EXPECT_EQ(summarize({.remaining = four, .nodes = 5, .strongest = 4}), left(2s));
}

TEST(denial_summary, must_let_go_of_more_where_nodes_are_out_of_reach) {
    const times two{3s, 1s};
    EXPECT_EQ(summarize({.remaining = two, .nodes = 3, .unknown = 1, .strongest = 2}), left(3s));
    const times one{3s};
    EXPECT_EQ(summarize({.remaining = one, .nodes = 3, .unknown = 1, .strongest = 1}), left(3s));
    EXPECT_EQ(summarize({.remaining = one, .nodes = 5, .unknown = 2, .strongest = 1}), left(3s));
}

TEST(denial_summary, is_not_known_to_let_go_if_one_of_them_did_not_say) {
    const times denied{3s, -1ns};
    EXPECT_EQ(summarize({.remaining = denied, .nodes = 3, .strongest = 2, .tracked = true}),
              (denial_summary{.tracked = true}));
}

TEST(denial_summary, is_nobody_if_a_majority_is_free) {
    EXPECT_EQ(summarize({.nodes = 3, .tracked = true}), denial_summary{});
    const times denied{3s};
    EXPECT_EQ(summarize({.remaining = denied, .nodes = 3, .strongest = 1}), denial_summary{});
}

TEST(denial_summary, has_no_time_if_nobody_denied) {
    EXPECT_EQ(summarize({.nodes = 3, .unknown = 2, .strongest = 0}), left(-1ns));
    EXPECT_EQ(summarize({.nodes = 3, .unknown = 3 - 1, .strongest = 0}), left(-1ns));
}

TEST(denial_summary, shares_a_split_vote_if_the_strongest_of_them_cannot_have_a_majority) {
    const times two{3s, 1s};
    EXPECT_TRUE(summarize({.remaining = two, .nodes = 3, .strongest = 1}).split);
    const times three{3s, 1s, 2s};
    EXPECT_TRUE(summarize({.remaining = three, .nodes = 3, .strongest = 1}).split);
    EXPECT_TRUE(summarize({.remaining = three, .nodes = 5, .strongest = 2}).split);
}

TEST(denial_summary, may_hold_a_majority_together_with_those_who_are_out_of_reach) {
    const times two{3s, 1s};
    EXPECT_FALSE(summarize({.remaining = two, .nodes = 3, .unknown = 1, .strongest = 1}).split);
    const times three{3s, 1s, 2s};
    EXPECT_FALSE(summarize({.remaining = three, .nodes = 5, .strongest = 3}).split);
}

// A spin_policy that takes every vote that is still out for the holder's would never step back.
TEST(denial_summary, is_not_believed_to_have_the_votes_that_are_still_out) {
    const times two{3s, 1s};
    EXPECT_TRUE(summarize({.remaining = two, .nodes = 3, .strongest = 1}).split);
    const times three{3s, 1s, 2s};
    EXPECT_TRUE(summarize({.remaining = three, .nodes = 5, .strongest = 2}).split);
}

}  // namespace
}  // namespace holdfast::core
