#include "api/leader_look.hpp"

#include <gtest/gtest.h>

namespace holdfast::detail {
namespace {

using namespace std::chrono_literals;

std::string owner_of(char digit) { return "he1:" + std::string(40, digit) + ":anna@web1:4711:"; }

leader with(char digit, std::uint64_t term, std::chrono::milliseconds left = 10s) {
    leader made{.term = term, .value = "v", .who = parse_owner(owner_of(digit))};
    made.who.remaining = left;
    return made;
}

const runtime::electorate three(core::node_set::first(3));
const runtime::electorate one(core::node_set::first(1));

TEST(leader_look, whoever_holds_the_lock_and_is_noted_leads) {
    const auto found = leader_noted("17\n" + owner_of('a') + "\nvalue", owner_of('a'));
    EXPECT_EQ(found.term, 17U);
    EXPECT_EQ(found.value, "value");
    EXPECT_EQ(found.who.host, "web1");
    EXPECT_TRUE(found.who.leads);
}

TEST(leader_look, a_note_of_another_than_holds_the_lock_says_nothing) {
    EXPECT_FALSE(leader_noted("17\n" + owner_of('a') + "\nvalue", owner_of('b')));
    EXPECT_FALSE(leader_noted("17\n" + owner_of('a') + "\nvalue", ""));
    EXPECT_FALSE(leader_noted("", owner_of('a')));
    EXPECT_FALSE(leader_noted("", ""));
}

TEST(leader_look, a_majority_decides_who_leads) {
    EXPECT_EQ(elect_leader({with('a', 5), with('a', 5), leader{}}, three)->term, 5U);
    EXPECT_EQ(elect_leader({with('a', 5), std::nullopt, with('a', 5)}, three)->term, 5U);
    EXPECT_FALSE(*elect_leader({with('a', 5), leader{}, leader{}}, three)) << "nobody";
    EXPECT_FALSE(*elect_leader({with('a', 5), with('b', 6), leader{}}, three)) << "nobody";
}

TEST(leader_look, it_is_not_known_where_those_who_are_silent_could_decide_it) {
    EXPECT_FALSE(elect_leader({with('a', 5), std::nullopt, leader{}}, three).has_value());
    EXPECT_FALSE(elect_leader({std::nullopt, std::nullopt, leader{}}, three).has_value());
    EXPECT_FALSE(elect_leader({std::nullopt}, one).has_value());
    EXPECT_TRUE(elect_leader({leader{}, std::nullopt, leader{}}, three).has_value());
}

TEST(leader_look, nobody_leads_before_a_majority_has_its_term) {
    EXPECT_EQ(elect_leader({with('a', 5), with('a', 5), with('a', 9)}, three)->term, 5U);
    EXPECT_EQ(elect_leader({with('a', 9), with('a', 5), with('a', 9)}, three)->term, 9U);
    EXPECT_FALSE(*elect_leader({with('a', 9), with('a', 5), std::nullopt}, three));
    EXPECT_FALSE(*elect_leader({with('a', 9), with('a', 5), with('a', 7)}, three));
}

TEST(leader_look, it_is_looked_at_again_when_the_first_lease_of_it_ends) {
    const auto found = elect_leader({with('a', 5, 3s), with('a', 5, 2s), leader{}}, three);
    EXPECT_EQ(found->who.remaining, 2s);
}

}  // namespace
}  // namespace holdfast::detail
