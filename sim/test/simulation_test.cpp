// What the simulator itself promises: the same seed tells the same story, a broken rule is caught
// and told with as few faults as it needs, and the limits of T2 are where the documentation says.

#include <gtest/gtest.h>

#include "sim/mutants.hpp"
#include "sim/simulation.hpp"
#include "sim/sweep.hpp"
#include "sim/test/with_breakage.hpp"

namespace holdfast::sim {
namespace {

outcome run(const plan& settings, bool traced = false) {
    script_set scripts;
    return simulation(settings, scripts, traced).run();
}

TEST(simulation, tells_the_same_story_for_the_same_seed) {
    for (const std::uint64_t seed : {1U, 77U, 4711U}) {
        const auto first = run(draw_plan(seed), true).trace;
        EXPECT_GT(first.size(), 1000U);
        EXPECT_EQ(first, run(draw_plan(seed), true).trace) << "seed " << seed;
    }
}

TEST(simulation, tells_different_stories_for_different_seeds) {
    EXPECT_NE(run(draw_plan(1), true).trace, run(draw_plan(2), true).trace);
}

TEST(simulation, goes_the_same_way_whether_it_is_traced_or_not) {
    const auto settings = draw_plan(42);
    EXPECT_EQ(run(settings, true).events, run(settings, false).events);
}

TEST(plan, draws_everything_else_alike_when_a_fault_is_taken_away) {
    const auto all = draw_plan(9);
    auto fewer = all.faults;
    fewer.erase(fault::loss);
    const auto without = draw_plan(9, fewer);
    EXPECT_EQ(all.timing.ttl, without.timing.ttl);
    EXPECT_EQ(all.base_delay, without.base_delay);
    EXPECT_EQ(all.nodes, without.nodes);
}

TEST(faults, are_read_as_they_are_written) {
    const auto all = fault_set::all();
    EXPECT_EQ(fault_set::parse(all.to_string()), all);
    EXPECT_EQ(fault_set::parse("none"), fault_set{});
    EXPECT_EQ(fault_set::parse("earthquake"), std::nullopt);
}

TEST(minimise, keeps_the_failure_and_drops_faults_that_it_does_not_need) {
    const with_breakage broken(breakage::unknown_not_cleaned_up);
    script_set scripts;
    const auto found = sweep({0, 200}, 1, fault_set::all());
    ASSERT_TRUE(found.first);
    const auto least = minimise(*found.first, scripts);
    EXPECT_TRUE(run(least.settings).found);
    least.settings.faults.for_each([&](fault f) {
        auto fewer = least.settings.faults;
        fewer.erase(f);
        EXPECT_FALSE(run(draw_plan(least.settings.seed, fewer)).found) << name_of(f);
    });
}

TEST(mutants, of_the_scripts_still_apply) {
    for (const auto& each : all_mutants()) {
        const with_breakage broken(each.which);
        EXPECT_NO_THROW(script_set{}) << each.name;
    }
}

TEST(mutants, have_one_row_for_every_breakage) {
    EXPECT_EQ(all_mutants().size(), breakage_count);
    EXPECT_EQ(static_cast<std::size_t>(all_mutants().back().which), breakage_count);
}

// Scenarios: what was found, and must stay found.

plan quorum_that_forgets(core::duration skew) {
    plan settings = draw_plan(0);
    settings.faults = {};
    settings.faults.insert(fault::crash_empty);
    settings.faults.insert(fault::partition);
    settings.faults.insert(fault::wall_skew);
    settings.nodes = 3;
    settings.clients = 3;
    settings.workers = 1;
    settings.fencing = settings.restart_guard = settings.tracking = settings.renewing = true;
    settings.timing = {.ttl = std::chrono::seconds(1)};
    settings.max_ttl = std::chrono::seconds(2);
    settings.node_timeout = std::chrono::milliseconds(100);
    settings.silence = std::chrono::milliseconds(300);
    settings.longest_hold = std::chrono::milliseconds(300);
    settings.longest_think = std::chrono::milliseconds(800);
    settings.longest_outage = std::chrono::seconds(8);
    settings.fence_retention = std::chrono::hours(1);
    settings.events_per_fault = 8;
    settings.wall_skew = skew;
    settings.wall_jump = core::duration{0};
    settings.rate_ppm = 0;
    return settings;
}

int runs_that_break(plan settings, rule which) {
    int broken = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        settings.seed = seed;
        const auto ran = run(settings);
        broken += ran.found && ran.found->broken == which ? 1 : 0;
    }
    return broken;
}

// A node that lost its counter starts again at its own clock. If that lags behind the clock that
// an earlier token came from by more than the quarantine, the next token is smaller.
TEST(scenario, tokens_stay_in_order_while_the_clocks_agree_within_the_quarantine) {
    const auto settings = quorum_that_forgets(std::chrono::milliseconds(900));
    ASSERT_TRUE(settings.promises_token_order());
    EXPECT_EQ(runs_that_break(settings, rule::token_order), 0);
}

TEST(scenario, tokens_can_go_back_when_the_clocks_disagree_by_more_than_the_quarantine) {
    auto settings = quorum_that_forgets(std::chrono::hours(10));
    ASSERT_FALSE(settings.promises_token_order());
    settings.check_token_order_anyway = true;
    EXPECT_GT(runs_that_break(settings, rule::token_order), 0);
}

// A crash that loses the last second leaves a counter behind that is older than the tokens that
// were drawn from it. It must not be counted on from.
TEST(scenario, a_counter_that_a_crash_has_rolled_back_is_not_used_again) {
    auto settings = quorum_that_forgets(core::duration{0});
    settings.faults.erase(fault::crash_empty);
    settings.faults.insert(fault::crash_partial);
    EXPECT_EQ(runs_that_break(settings, rule::token_order), 0);
    const with_breakage broken(breakage::counter_rolled_back);
    EXPECT_GT(runs_that_break(settings, rule::token_order), 0);
}

// A counter that was started, or raised, by a clock that is ahead lies above the time at which a
// node that lags behind restarts. So that time cannot tell whether it was rolled back; the end of
// the quarantine can, as long as the clocks agree within it.
TEST(scenario, a_counter_that_is_ahead_of_the_clock_is_not_used_again_either) {
    auto settings = quorum_that_forgets(core::duration{0});
    settings.faults = {};
    settings.faults.insert(fault::crash_partial);
    settings.faults.insert(fault::wall_jump);
    settings.nodes = 1;
    settings.max_ttl = std::chrono::seconds(10);
    settings.wall_jump = std::chrono::milliseconds(4900);
    settings.events_per_fault = 2;
    settings.longest_think = std::chrono::milliseconds(100);
    settings.longest_outage = std::chrono::seconds(1);
    settings.troubled = std::chrono::seconds(4);
    ASSERT_TRUE(settings.promises_token_order());
    EXPECT_EQ(runs_that_break(settings, rule::token_order), 0);
    const with_breakage broken(breakage::life_from_the_restart);
    EXPECT_GT(runs_that_break(settings, rule::token_order), 0);
}

// With a majority out of reach an attempt is decided before the last node has been asked. The
// request that is then still written would follow its own release, and nobody would undo it.
TEST(scenario, nothing_is_asked_of_a_node_after_its_release_was_sent) {
    auto settings = quorum_that_forgets(core::duration{0});
    settings.faults.erase(fault::crash_empty);
    EXPECT_EQ(runs_that_break(settings, rule::orphan), 0);
    const with_breakage broken(breakage::concluded_before_all_is_written);
    EXPECT_GT(runs_that_break(settings, rule::orphan), 0);
}

}  // namespace
}  // namespace holdfast::sim
