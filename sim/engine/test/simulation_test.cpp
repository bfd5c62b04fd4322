// What this simulator itself promises: the same seed tells the same story, the shipped client keeps
// the rules in it, and a rule that is broken is noticed.

#include <gtest/gtest.h>

#include "sim/engine/simulation.hpp"
#include "sim/engine/whole_plan.hpp"
#include "sim/test/with_breakage.hpp"

namespace holdfast::sim::engine {
namespace {

outcome run(const plan& settings, bool traced = false) {
    script_library scripts;
    return simulation(settings, scripts, traced).run();
}

plan two_clients_and_one_server(std::uint64_t seed) {
    auto settings = draw_whole_plan(seed, fault_set{});
    settings.nodes = 1;
    settings.clients = 2;
    settings.fencing = true;
    settings.longest_think = std::chrono::seconds(1);
    return settings;
}

TEST(whole_clients, tell_the_same_story_for_the_same_seed) {
    for (const std::uint64_t seed : {1U, 77U, 4711U}) {
        const auto first = run(draw_whole_plan(seed), true).trace;
        EXPECT_GT(first.size(), 1000U);
        EXPECT_EQ(first, run(draw_whole_plan(seed), true).trace) << "seed " << seed;
    }
}

TEST(whole_clients, go_the_same_way_whether_they_are_traced_or_not) {
    const auto settings = draw_whole_plan(42);
    EXPECT_EQ(run(settings, true).events, run(settings, false).events);
}

TEST(whole_clients, exclude_each_other_at_one_server) {
    std::uint64_t acquired = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto ran = run(two_clients_and_one_server(seed));
        EXPECT_FALSE(ran.found) << "seed " << seed << ": " << ran.found->what;
        acquired += ran.acquired;
    }
    EXPECT_GT(acquired, 500U);
}

TEST(whole_clients, are_seen_not_to_where_a_script_overwrites) {
    const with_breakage broken(breakage::acquire_overwrites);
    EXPECT_TRUE(run(two_clients_and_one_server(3)).found);
}

}  // namespace
}  // namespace holdfast::sim::engine
