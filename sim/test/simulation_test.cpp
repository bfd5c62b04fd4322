// What the simulator itself promises: the same seed tells the same story, the shipped client keeps
// the rules in it, and a rule that is broken is noticed, and told with as few faults as it needs.

#include <gtest/gtest.h>

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

plan two_clients_and_one_server(std::uint64_t seed) {
    auto settings = draw_plan(seed, fault_set{});
    settings.nodes = 1;
    settings.clients = 2;
    settings.fencing = true;
    settings.longest_think = std::chrono::seconds(1);
    return settings;
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

TEST(simulation, sees_clients_exclude_each_other_at_one_server) {
    std::uint64_t acquired = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto ran = run(two_clients_and_one_server(seed));
        EXPECT_FALSE(ran.found) << "seed " << seed << ": " << ran.found->what;
        acquired += ran.acquired;
    }
    EXPECT_GT(acquired, 500U);
}

TEST(simulation, sees_them_not_to_where_a_script_takes_any_holder_for_ours) {
    const with_breakage broken(breakage::any_holder_taken_for_ours);
    EXPECT_TRUE(run(two_clients_and_one_server(3)).found);
}

// That nobody overlaps would also be true if nobody read.
TEST(simulation, sees_some_read_together_and_some_who_wrote_go_on_reading) {
    for (const std::size_t nodes : {1U, 3U}) {
        std::uint64_t together = 0;
        std::uint64_t downgrades = 0;
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            auto settings = two_clients_and_one_server(seed);
            settings.nodes = nodes;
            settings.fair = nodes == 1 ? settings.fair : fairness::nobody;
            settings.clients = 3;
            settings.shared = true;
            settings.reads_per_mille = 700;
            settings.downgrades_per_mille = 500;
            const auto ran = run(settings);
            EXPECT_FALSE(ran.found) << "seed " << seed << ": " << ran.found->what;
            together += ran.read_together;
            downgrades += ran.downgrades;
        }
        EXPECT_GT(together, 100U) << nodes;
        EXPECT_GT(downgrades, 20U) << nodes;
    }
}

TEST(simulation, sees_who_reads_while_another_writes) {
    const with_breakage broken(breakage::reader_joins_a_writer);
    auto settings = two_clients_and_one_server(3);
    settings.shared = true;
    settings.reads_per_mille = 500;
    EXPECT_TRUE(run(settings).found);
}

TEST(minimise, keeps_the_failure_and_drops_faults_that_it_does_not_need) {
    const with_breakage broken(breakage::unknown_not_cleaned_up);
    script_library scripts;
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

TEST(sweep, ends_when_its_watcher_has_seen_enough) {
    const auto result = sweep({0, 1'000'000}, 1, fault_set::all(),
                              [](const totals& sum) { return sum.seeds == 0; });
    EXPECT_GT(result.sum.seeds, 0U);
    EXPECT_LT(result.sum.seeds, 10'000U);
}

}  // namespace
}  // namespace holdfast::sim
