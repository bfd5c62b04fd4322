// Replication groups in the simulator: promises are kept across fail-overs, and where they are not
// made, or a rule is broken, that shows.

#include "sim/world/group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "sim/test/with_breakage.hpp"
#include "sim/world/plan.hpp"
#include "sim/world/simulation.hpp"

namespace holdfast::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

plan drawn(std::uint64_t seed) { return draw_plan(seed, fault_set::all(), topology::group); }

outcome run(const plan& settings, bool traced = false) {
    script_library scripts;
    return simulation(settings, scripts, traced).run();
}

// Three servers and as many Sentinels; whatever happens is one of these faults.
plan three_servers(std::uint64_t seed, std::initializer_list<fault> faults) {
    auto settings = draw_plan(seed, fault_set{}, topology::group);
    for (const auto each : faults) settings.faults.insert(each);
    settings.group = {.members = 3,
                      .sentinels = 3,
                      .down_after = milliseconds(200),
                      .slowest_switch = milliseconds(1500),
                      .longest_lag = milliseconds(300)};
    settings.clients = 3;
    settings.fencing = settings.renewing = true;
    settings.impatient = settings.crowds = false;
    settings.workers = 1;
    settings.timing = {.ttl = milliseconds(600)};
    settings.max_ttl = milliseconds(600);
    settings.notice = milliseconds(60);
    settings.node_timeout = milliseconds(60);
    settings.base_delay = milliseconds(1);
    settings.longest_hold = milliseconds(800);
    settings.longest_think = milliseconds(100);
    settings.longest_outage = milliseconds(1500);
    settings.events_per_fault = 4;
    settings.length = settings.troubled = seconds(15);
    return settings;
}

constexpr std::array promises{rule::exclusion, rule::token_order, rule::lost_update};

bool breaks_a_promise(std::initializer_list<fault> faults, std::uint64_t seeds) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const auto found = run(three_servers(seed, faults)).found;
        if (found && std::ranges::find(promises, found->broken) != promises.end()) return true;
    }
    return false;
}

// Unoptimised or instrumented, less of them is run.
#ifdef HOLDFAST_OPTIMISED
constexpr std::uint64_t sound_seeds = 60;
#else
constexpr std::uint64_t sound_seeds = 10;
#endif

TEST(group, tells_the_same_story_for_the_same_seed) {
    for (const std::uint64_t seed : {1U, 77U, 4711U}) {
        const auto first = run(drawn(seed), true).trace;
        EXPECT_GT(first.size(), 1000U);
        EXPECT_EQ(first, run(drawn(seed), true).trace) << "seed " << seed;
    }
}

TEST(group, keeps_the_promises_while_masters_are_replaced) {
    std::uint64_t acquired = 0;
    std::uint64_t fail_overs = 0;
    for (std::uint64_t seed = 0; seed < sound_seeds; ++seed) {
        const auto ran = run(three_servers(
            seed, {fault::failover, fault::isolation, fault::replica_lag, fault::stale_sentinel}));
        EXPECT_FALSE(ran.found) << "seed " << seed << ": " << ran.found->what;
        acquired += ran.acquired;
        fail_overs += ran.fail_overs;
    }
    EXPECT_GT(acquired, 5 * sound_seeds);
    EXPECT_GT(fail_overs, 2 * sound_seeds);
}

// What the old master gives away while some still follow it ends after a quarantine that began when
// the new one was met, and not when they had left.
TEST(group, a_quarantine_counts_from_when_it_was_acknowledged) {
    const with_breakage broken(breakage::quarantine_before_its_acknowledgement);
    EXPECT_TRUE(breaks_a_promise({fault::failover, fault::isolation}, 300));
}

TEST(group, a_replica_that_was_promoted_is_in_quarantine) {
    const with_breakage broken(breakage::no_quarantine_after_promotion);
    EXPECT_TRUE(breaks_a_promise({fault::failover, fault::replica_lag}, 300));
}

TEST(group, a_master_without_its_replicas_keeps_no_lease_alive) {
    const with_breakage broken(breakage::unacknowledged_renewal_counts);
    int noticed = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const auto found = run(three_servers(seed, {fault::isolation})).found;
        noticed += found && found->broken == rule::quorum ? 1 : 0;
    }
    EXPECT_GT(noticed, 0);
}

TEST(group, grants_without_quarantines_where_nothing_happens) {
    const auto ran = run(three_servers(1, {}));
    EXPECT_FALSE(ran.found);
    EXPECT_EQ(ran.fail_overs, 0U);
    EXPECT_GT(ran.acquired, 20U);
}

}  // namespace
}  // namespace holdfast::sim
