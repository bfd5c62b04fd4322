#include "sim/explorer.hpp"

#include <gtest/gtest.h>

#include "sim/breakage.hpp"

namespace holdfast::sim {
namespace {

constexpr small_case tiny{.attempts = 2, .losses = 0, .crashes = 0, .expiries = 1};

TEST(explorer, finds_both_promises_kept_in_every_schedule) {
    auto timed = tiny;
    timed.timed = true;
    for (const auto& each : {tiny, timed}) {
        const auto found = explore(each);
        EXPECT_FALSE(found.broken) << *found.broken;
        EXPECT_TRUE(found.complete);
        EXPECT_GT(found.states, 10'000U);
    }
}

TEST(explorer, tells_the_way_to_a_broken_promise) {
    active_breakage = breakage::acquire_overwrites;
    auto timed = tiny;
    timed.timed = true;
    const auto found = explore(timed);
    active_breakage = breakage::none;
    ASSERT_TRUE(found.broken);
    EXPECT_GT(found.story.size(), 4U);
}

TEST(explorer, says_so_when_it_has_not_seen_everything) {
    auto cut_short = tiny;
    cut_short.most_states = 1000;
    EXPECT_FALSE(explore(cut_short).complete);
}

}  // namespace
}  // namespace holdfast::sim
