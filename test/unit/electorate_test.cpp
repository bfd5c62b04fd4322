#include "runtime/electorate.hpp"

#include <gtest/gtest.h>

namespace holdfast::runtime {
namespace {

core::node_set set_of(std::initializer_list<std::uint8_t> nodes) {
    core::node_set all;
    for (const auto node : nodes) all.insert({node});
    return all;
}

TEST(electorate, numbers_its_voters_from_zero_whichever_nodes_they_are) {
    const electorate some(set_of({2, 5, 11}));
    EXPECT_EQ(some.size(), 3U);
    EXPECT_EQ(some.voters(), core::node_set::first(3));
    EXPECT_EQ(some.node_of({0}), core::node_index{2});
    EXPECT_EQ(some.node_of({1}), core::node_index{5});
    EXPECT_EQ(some.node_of({2}), core::node_index{11});
}

TEST(electorate, knows_the_voter_that_a_node_is) {
    const electorate some(set_of({2, 5, 11}));
    some.voters().for_each(
        [&](core::node_index voter) { EXPECT_EQ(some.voter_at(some.node_of(voter)), voter); });
    EXPECT_EQ(some.voter_at({3}), std::nullopt) << "it has no vote";
}

TEST(electorate, is_decided_by_a_majority_and_prevented_by_what_leaves_none) {
    const electorate five(core::node_set::first(5));
    EXPECT_EQ(five.majority(), 3U);
    EXPECT_FALSE(five.carries(2));
    EXPECT_TRUE(five.carries(3));
    EXPECT_FALSE(five.prevents(2));
    EXPECT_TRUE(five.prevents(3));
    const electorate one(core::node_set::of({7}));
    EXPECT_TRUE(one.carries(1));
    EXPECT_TRUE(one.prevents(1));
    EXPECT_EQ(one.node_of({0}), core::node_index{7});
}

TEST(electorate, may_be_one_node_whatever_its_number) {
    const electorate slot(core::node_index{16383});
    EXPECT_EQ(slot.size(), 1U);
    EXPECT_EQ(slot.voters(), core::node_set::first(1));
    EXPECT_EQ(slot.node_of({0}), core::node_index{16383});
    EXPECT_EQ(slot.voter_at({16383}), core::node_index{0});
    EXPECT_EQ(slot.voter_at({0}), std::nullopt);
    EXPECT_TRUE(slot.carries(1));
}

}  // namespace
}  // namespace holdfast::runtime
