#include "sim/program/options.hpp"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

using task = program_options::task;

TEST(program_options, choose_what_to_do) {
    EXPECT_EQ(parse({"--seeds", "0..10"})->what, task::seeds);
    EXPECT_EQ(parse({"--seed", "4711", "--trace"})->what, task::seed);
    EXPECT_EQ(parse({"--explore", "--attempts", "3"})->what, task::explore);
    EXPECT_EQ(parse({"--mutants"})->what, task::mutants);
    EXPECT_EQ(parse({"--hunt", "quorum_of_half"})->what, task::hunt);
    EXPECT_EQ(parse({"--help"})->what, task::help);
}

TEST(program_options, choose_a_topology) {
    EXPECT_EQ(parse({"--seeds", "0..10"})->shape, topology::servers);
    EXPECT_EQ(parse({"--seeds", "0..10", "--topology", "group"})->shape, topology::group);
    EXPECT_EQ(parse({"--seeds", "0..10", "--topology", "kinds"})->shape, topology::kinds);
    EXPECT_FALSE(parse({"--seeds", "0..10", "--topology", "ring"}));
}

TEST(program_options, take_a_range_without_its_end) {
    const auto parsed = parse({"--seeds", "5..9"});
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->seeds.first, 5U);
    EXPECT_EQ(parsed->seeds.last, 9U);
}

TEST(program_options, refuse_what_makes_no_sense) {
    EXPECT_FALSE(parse({}));
    EXPECT_FALSE(parse({"--seeds", "9..9"}));
    EXPECT_FALSE(parse({"--seeds", "9"}));
    EXPECT_FALSE(parse({"--seed", "-1"}));
    EXPECT_FALSE(parse({"--seed"}));
    EXPECT_FALSE(parse({"--seed", "1", "--faults", "earthquake"}));
    EXPECT_FALSE(parse({"--mutant", "unheard_of"}));
    EXPECT_FALSE(parse({"--explore", "--losses", "2"}));
    EXPECT_FALSE(parse({"--sedes", "0..9"}));
}

}  // namespace
}  // namespace holdfast::sim
