// Semaphores, several keys at once, elections and latches in the simulator: that something happens
// there, of which rules could be broken, and that one that is broken is noticed.

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>

#include "sim/program/sweep.hpp"
#include "sim/test/with_breakage.hpp"
#include "sim/world/plan.hpp"
#include "sim/world/simulation.hpp"

namespace holdfast::sim {
namespace {

outcome run(const plan& settings, bool traced = false) {
    script_library scripts;
    return simulation(settings, scripts, traced).run();
}

/// All that the first seeds of one kind have seen, without a rule broken.
outcome all_of(other_kind which, std::size_t nodes, fault_set faults) {
    outcome sum;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const auto settings = draw_plan(seed, faults, topology::kinds);
        if (settings.kind.which != which || settings.nodes != nodes) continue;
        const auto ran = run(settings);
        EXPECT_FALSE(ran.found) << settings.to_string() << ": " << ran.found->what;
        sum.acquired += ran.acquired;
        sum.held_together += ran.held_together;
        sum.tidings += ran.tidings;
        sum.latches_passed += ran.latches_passed;
    }
    return sum;
}

TEST(kinds, tell_the_same_story_for_the_same_seed) {
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
        const auto settings = draw_plan(seed, fault_set::all(), topology::kinds);
        const auto first = run(settings, true).trace;
        EXPECT_GT(first.size(), 1000U);
        EXPECT_EQ(first, run(settings, true).trace) << settings.to_string();
    }
}

TEST(kinds, see_several_have_permits_at_once) {
    EXPECT_GT(all_of(other_kind::semaphore, 1, fault_set{}).held_together, 1000U);
}

TEST(kinds, see_several_have_keys_that_others_do_not_want) {
    EXPECT_GT(all_of(other_kind::several, 1, fault_set{}).held_together, 300U);
    EXPECT_GT(all_of(other_kind::several, 3, fault_set{}).held_together, 100U);
}

TEST(kinds, see_observers_told_of_leaders) {
    EXPECT_GT(all_of(other_kind::election, 1, fault_set{}).tidings, 300U);
    EXPECT_GT(all_of(other_kind::election, 3, fault_set{}).tidings, 300U);
}

TEST(kinds, see_latches_open) {
    EXPECT_GT(all_of(other_kind::latch, 1, fault_set{}).latches_passed, 1000U);
}

struct broken_rule {
    breakage which{};
    other_kind of{};
    std::string name;
};
void PrintTo(const broken_rule& rule, std::ostream* to) { *to << rule.name; }

class broken_kinds : public testing::TestWithParam<broken_rule> {};

TEST_P(broken_kinds, are_found_out) {
    const with_breakage broken(GetParam().which);
    bool found = false;
    for (std::uint64_t seed = 0; seed < 400 && !found; ++seed) {
        const auto settings = draw_plan(seed, fault_set::all(), topology::kinds);
        if (settings.kind.which == GetParam().of) found = run(settings).found.has_value();
    }
    EXPECT_TRUE(found);
}

#define RULE(name, kind) \
    broken_rule { breakage::name, other_kind::kind, #name }
INSTANTIATE_TEST_SUITE_P(rules, broken_kinds,
                         testing::Values(RULE(one_permit_too_many, semaphore),
                                         RULE(slot_not_told, semaphore),
                                         RULE(several_looks_at_the_first_key, several),
                                         RULE(several_token_above_one_counter, several),
                                         RULE(leader_not_noted, election),
                                         RULE(latch_opens_one_early, latch)),
                         [](const auto& each) { return each.param.name; });
#undef RULE

}  // namespace
}  // namespace holdfast::sim
