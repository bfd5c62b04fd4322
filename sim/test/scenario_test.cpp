// Scenarios: what was found, and must stay found; and where the limits of T2 are, as
// doc/testing.md says.

#include <gtest/gtest.h>

#include "sim/test/with_breakage.hpp"
#include "sim/world/plan.hpp"
#include "sim/world/simulation.hpp"

namespace holdfast::sim {
namespace {

plan quorum_that_forgets(core::duration skew) {
    plan settings = draw_plan(0, fault_set{});
    settings.faults.insert(fault::crash_empty);
    settings.faults.insert(fault::partition);
    settings.faults.insert(fault::wall_skew);
    settings.nodes = 3;
    settings.clients = 3;
    settings.outsider = outsider::none;
    settings.workers = 1;
    settings.crowds = settings.impatient = settings.onlookers = settings.interrupts = false;
    settings.fencing = settings.restart_guard = settings.tracking = settings.renewing = true;
    settings.timing = {.ttl = std::chrono::seconds(1)};
    settings.max_ttl = std::chrono::seconds(2);
    settings.notice = std::chrono::milliseconds(100);
    settings.node_timeout = std::chrono::milliseconds(100);
    settings.base_delay = std::chrono::milliseconds(1);
    settings.longest_hold = std::chrono::milliseconds(300);
    settings.longest_think = std::chrono::milliseconds(800);
    settings.longest_outage = std::chrono::seconds(8);
    settings.fence_retention = std::chrono::hours(1);
    settings.events_per_fault = 8;
    settings.length = settings.troubled = std::chrono::seconds(40);
    settings.wall_skew = skew;
    settings.wall_jump = core::duration{0};
    settings.rate_ppm = 0;
    return settings;
}

int runs_that_break(plan settings, rule which, std::uint64_t seeds = 60) {
    script_library scripts;
    int broken = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        settings.seed = seed;
        const auto ran = simulation(settings, scripts, false).run();
        broken += ran.found && ran.found->broken == which ? 1 : 0;
    }
    return broken;
}

// A server that lost its counter starts again at its own clock. If that lags behind the clock that
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
// server that lags behind restarts. So that time cannot tell whether it was rolled back; the end of
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
    EXPECT_GT(runs_that_break(settings, rule::token_order, 300), 0);
}

// With a majority out of reach an attempt is decided before the last server has been asked. The
// request that is then still written would follow its own release, and nobody would undo it.
TEST(scenario, nothing_is_asked_of_a_node_after_its_release_was_sent) {
    auto settings = quorum_that_forgets(core::duration{0});
    settings.faults.erase(fault::crash_empty);
    EXPECT_EQ(runs_that_break(settings, rule::orphan), 0);
    const with_breakage broken(breakage::concluded_before_all_is_written);
    EXPECT_GT(runs_that_break(settings, rule::orphan), 0);
}

// Handed on, a lease is young: others wait as well.
TEST(scenario, no_old_lease_is_handed_on) {
    auto settings = quorum_that_forgets(core::duration{0});
    settings.faults = {};
    settings.workers = 4;
    settings.renewing = false;
    EXPECT_EQ(runs_that_break(settings, rule::staleness, 10), 0);
    const with_breakage broken(breakage::handed_off_at_any_age);
    EXPECT_GT(runs_that_break(settings, rule::staleness), 0);
}

// Clients stand still here, too. It does not show that who stands still between reading what a
// clock shows and looking at its own has measured nothing.
TEST(scenario, a_server_whose_clock_jumped_is_not_asked_by_who_saw_it) {
    auto settings = quorum_that_forgets(core::duration{0});
    settings.faults = {};
    settings.faults.insert(fault::client_pause);
    settings.faults.insert(fault::wall_jump);
    settings.wall_jump = std::chrono::seconds(4);
    settings.max_ttl = std::chrono::seconds(20);
    EXPECT_EQ(runs_that_break(settings, rule::voided_vote, 100), 0);
    const with_breakage broken(breakage::clock_jump_ignored);
    EXPECT_GT(runs_that_break(settings, rule::voided_vote), 0);
}

}  // namespace
}  // namespace holdfast::sim
