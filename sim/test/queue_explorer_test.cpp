// The search of the small case with one server and its queue: it goes through what it says, and a
// rule that is broken is noticed in it.

#include <gtest/gtest.h>

#include <array>

#include "sim/explore/queue_rules.hpp"
#include "sim/test/with_breakage.hpp"

namespace holdfast::sim {
namespace {

using in_line::explore_queue;

constexpr small_case calm{.losses = 0, .crashes = 0};

small_case timed(small_case what) {
    what.timed = true;
    return what;
}

TEST(queue_explorer, finds_every_promise_kept_in_every_schedule) {
    for (const auto& each : {calm, timed(calm)}) {
        const auto found = explore_queue(each);
        EXPECT_FALSE(found.broken) << *found.broken;
        EXPECT_TRUE(found.complete);
        EXPECT_GT(found.states, 1'000U);
    }
}

// Each has to be seen by the promise that it breaks, and by no accident.
TEST(queue_explorer, finds_a_broken_rule) {
    struct wrong {
        breakage rule;
        std::string_view promise;
    };
    constexpr std::array all{
        wrong{breakage::newcomer_at_the_head, "order"},
        wrong{breakage::release_calls_nobody, "order"},
        wrong{breakage::grant_for_ever, "clean"},
        wrong{breakage::queue_for_ever, "clean"},
        wrong{breakage::entry_stays_in_line, "clean"},
        wrong{breakage::no_look_in_line, "liveness"},
        wrong{breakage::claim_not_extended, "T1"},
        wrong{breakage::any_holder_taken_for_ours, "T1"},
    };
    for (const auto& [rule, promise] : all) {
        const with_breakage broken(rule);
        const auto found = explore_queue(timed(calm));
        ASSERT_TRUE(found.broken) << promise;
        EXPECT_TRUE(found.broken->starts_with(promise)) << *found.broken;
        EXPECT_GT(found.story.size(), 2U);
    }
}

// Of all that is under way only a call may be lost alone, and whoever was to be called looks.
TEST(queue_explorer, bears_a_crash_that_the_server_does_not_hear_of) {
    const auto found = explore_queue({.losses = 0, .crashes = 1});
    EXPECT_FALSE(found.broken) << *found.broken;
    EXPECT_GT(found.states, explore_queue(calm).states);
}

TEST(queue_explorer, says_so_when_it_has_not_seen_everything) {
    auto cut_short = calm;
    cut_short.most_states = 100;
    EXPECT_FALSE(explore_queue(cut_short).complete);
}

}  // namespace
}  // namespace holdfast::sim
