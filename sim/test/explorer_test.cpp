#include "sim/explore/explorer.hpp"

#include <gtest/gtest.h>

#include "sim/test/with_breakage.hpp"

namespace holdfast::sim {
namespace {

constexpr small_case tiny{.attempts = 2, .losses = 0, .crashes = 0, .expiries = 1};

small_case timed(small_case what) {
    what.timed = true;
    return what;
}

search_result explore_by(reduction by, small_case what) {
    what.by = by;
    what.compares = true;
    return explore(what);
}

// Each with another kind of fault, small enough to be seen without any reduction.
const std::vector<small_case> comparable{
    tiny,
    timed(tiny),
    {.attempts = 2, .losses = 1, .crashes = 0, .expiries = 0},
#ifdef HOLDFAST_OPTIMISED  // otherwise, these would take minutes
    timed({.attempts = 2, .losses = 1, .crashes = 0, .expiries = 0}),
    {.attempts = 2, .losses = 0, .crashes = 1, .expiries = 0},
#endif
};

TEST(explorer, finds_both_promises_kept_in_every_schedule) {
    for (const auto& each : {tiny, timed(tiny)}) {
        const auto found = explore(each);
        EXPECT_FALSE(found.broken) << *found.broken;
        EXPECT_TRUE(found.complete);
        EXPECT_GT(found.states, 500U);
    }
}

TEST(explorer, sees_the_same_acquisitions_by_leaps_as_step_by_step) {
    for (const auto& each : comparable) {
        const auto plain = explore_by(reduction::plain, each);
        const auto leaps = explore_by(reduction::leaps, each);
        EXPECT_EQ(leaps.acquired, plain.acquired);
        EXPECT_GT(plain.acquired.size(), 10U);
        EXPECT_LT(leaps.states * 5, plain.states);
    }
}

// If two states that count as one could be told apart, something would follow from one of them
// alone, and the search that takes them for one would miss it or not, as chance has it.
TEST(explorer, visits_every_class_of_states_that_there_is) {
    auto cases = comparable;
    cases.push_back({.attempts = 3, .losses = 0, .crashes = 0, .expiries = 0});
    for (const auto& each : cases) {
        const auto leaps = explore_by(reduction::leaps, each);
        const auto full = explore_by(reduction::full, each);
        EXPECT_EQ(full.states, leaps.classes);
        EXPECT_LT(full.states * 5, leaps.states);
    }
}

TEST(explorer, finds_a_broken_rule_however_it_searches) {
    const small_case three{.attempts = 3, .losses = 0, .crashes = 0, .expiries = 1};
    const auto guarded = timed({.attempts = 2, .losses = 0, .crashes = 1, .expiries = 0});
    for (const auto by : {reduction::plain, reduction::leaps, reduction::full}) {
        const with_breakage commit(breakage::commit_without_owner_check);
        EXPECT_TRUE(explore_by(by, three).broken);
        const with_breakage overwrites(breakage::acquire_overwrites);
        EXPECT_TRUE(explore_by(by, timed(tiny)).broken);
        const with_breakage quarantine(breakage::quarantine_not_asked);
        EXPECT_TRUE(explore_by(by, guarded).broken);
        const with_breakage counts(breakage::counter_not_raised);
        EXPECT_TRUE(explore_by(by, tiny).broken);
    }
}

TEST(explorer, finds_the_same_with_several_threads) {
    auto one = timed(tiny);
    one.attempts = 3;
    auto four = one;
    four.jobs = 4;
    EXPECT_EQ(explore(four).states, explore(one).states);
}

TEST(explorer, tells_the_way_to_a_broken_promise) {
    const with_breakage overwrites(breakage::acquire_overwrites);
    const auto found = explore(timed(tiny));
    ASSERT_TRUE(found.broken);
    EXPECT_GT(found.story.size(), 4U);
}

TEST(explorer, says_so_when_it_has_not_seen_everything) {
    auto cut_short = tiny;
    cut_short.most_states = 100;
    EXPECT_FALSE(explore(cut_short).complete);
}

}  // namespace
}  // namespace holdfast::sim
