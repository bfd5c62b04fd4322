#include "sim/world/plan.hpp"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

TEST(plan, draws_everything_else_alike_when_a_fault_is_taken_away) {
    const auto all = draw_plan(9);
    auto fewer = all.faults;
    fewer.erase(fault::loss);
    const auto without = draw_plan(9, fewer);
    EXPECT_EQ(all.timing.ttl, without.timing.ttl);
    EXPECT_EQ(all.base_delay, without.base_delay);
    EXPECT_EQ(all.nodes, without.nodes);
}

TEST(plan, switches_every_fault_on_in_some_seed) {
    fault_set seen;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        seen = seen | draw_plan(seed).faults;
        seen = seen | draw_plan(seed, fault_set::all(), topology::group).faults;
    }
    EXPECT_EQ(seen, fault_set::all()) << seen.to_string();
}

TEST(plan, of_servers_is_not_hit_by_what_happens_in_groups_alone) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        draw_plan(seed).faults.for_each([](fault f) { EXPECT_FALSE(is_of_groups(f)); });
    }
}

TEST(plan, of_a_group_promises_nothing_across_fail_overs_without_a_majority) {
    auto settings = draw_plan(0, fault_set{}, topology::group);
    settings.group.members = 5;
    settings.group.sentinels = 3;
    settings.faults.insert(fault::failover);
    for (const auto& [acks, promised] :
         {std::pair{replicas::majority(), true}, std::pair{replicas::all(), true},
          std::pair{replicas::exactly(2), true}, std::pair{replicas::exactly(1), false},
          std::pair{replicas::none(), false}}) {
        settings.group.acks = acks;
        EXPECT_EQ(settings.promises_exclusion(), promised);
        EXPECT_EQ(settings.promises_token_order(), promised);
    }
}

TEST(faults, are_read_as_they_are_written) {
    const auto all = fault_set::all();
    EXPECT_EQ(fault_set::parse(all.to_string()), all);
    EXPECT_EQ(fault_set::parse("none"), fault_set{});
    EXPECT_EQ(fault_set::parse("earthquake"), std::nullopt);
}

}  // namespace
}  // namespace holdfast::sim
