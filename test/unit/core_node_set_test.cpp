#include "core/node_set.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "unit/core_helpers.hpp"

namespace holdfast::core {
namespace {

TEST(node_set, starts_empty) {
    EXPECT_TRUE(node_set{}.empty());
    EXPECT_EQ(node_set{}.size(), 0U);
    EXPECT_EQ(node_set{}, node_set::first(0));
}

TEST(node_set, holds_what_was_inserted_until_it_is_erased) {
    auto set = nodes({0, 3});
    EXPECT_TRUE(set.contains(node(0)));
    EXPECT_TRUE(set.contains(node(3)));
    EXPECT_FALSE(set.contains(node(1)));
    set.erase(node(0));
    set.erase(node(1));
    EXPECT_EQ(set, node_set::of(node(3)));
    set.insert(node(3));
    EXPECT_EQ(set.size(), 1U);
}

TEST(node_set, unites_and_subtracts) {
    EXPECT_EQ(nodes({0, 1}) | nodes({1, 2}), nodes({0, 1, 2}));
    EXPECT_EQ(nodes({0, 1, 2}) - nodes({1, 4}), nodes({0, 2}));
}

TEST(node_set, visits_its_members_lowest_first) {
    std::vector<std::size_t> seen;
    nodes({14, 2, 0}).for_each([&](node_index member) { seen.push_back(member.value); });
    EXPECT_EQ(seen, (std::vector<std::size_t>{0, 2, 14}));
}

TEST(node_set, has_room_for_the_largest_quorum) {
    const auto all = node_set::first(max_nodes);
    EXPECT_EQ(all.size(), max_nodes);
    EXPECT_TRUE(all.contains(node(max_nodes - 1)));
    EXPECT_FALSE(all.contains(node(max_nodes)));
    EXPECT_EQ((all - node_set::of(node(max_nodes - 1))), node_set::first(max_nodes - 1));
}

TEST(majority, is_more_than_half_and_two_of_them_always_share_a_node) {
    EXPECT_EQ(majority(1), 1U);
    EXPECT_EQ(majority(3), 2U);
    EXPECT_EQ(majority(5), 3U);
    for (std::size_t count = 1; count <= max_nodes; ++count) {
        EXPECT_GT(2 * majority(count), count);
        EXPECT_LE(majority(count), count);
    }
}

}  // namespace
}  // namespace holdfast::core
