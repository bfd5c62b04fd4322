#include "core/estate.hpp"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

constexpr time_point start{100s};
constexpr timing usual{.ttl = 30s};

estate left_after(duration held, const timing& asked_for = usual) {
    return found(start - held, asked_for.valid_until(start - held), {107}, 3);
}

TEST(estate, the_first_holder_has_the_first_of_the_tokens) {
    const auto first = found(start, usual.valid_until(start), {107}, 3);
    EXPECT_EQ(first.token, fencing_token{105});
    EXPECT_EQ(first.heirs, 2U);
}

TEST(estate, every_heir_has_a_token_of_its_own_and_the_last_is_where_the_counters_stand) {
    const auto second = inherit(left_after(0s));
    const auto third = inherit(second);
    EXPECT_EQ(second.token, fencing_token{106});
    EXPECT_EQ(third.token, fencing_token{107});
    EXPECT_TRUE(may_inherit(second, usual, usual, start));
    EXPECT_FALSE(may_inherit(third, usual, usual, start));
}

TEST(estate, an_heir_believes_no_longer_than_who_left_it) {
    EXPECT_EQ(inherit(left_after(10ms)).valid_until, left_after(10ms).valid_until);
    EXPECT_EQ(inherit(left_after(10ms)).sent_at, start - 10ms);
}

TEST(estate, without_fencing_there_are_heirs_but_no_tokens) {
    const auto first = found(start, usual.valid_until(start), {}, 3);
    EXPECT_EQ(first.token, fencing_token{});
    EXPECT_TRUE(may_inherit(first, usual, usual, start));
    EXPECT_EQ(inherit(first).token, fencing_token{});
}

TEST(estate, is_inherited_while_it_is_young) {
    EXPECT_TRUE(may_inherit(left_after(longest_succession - 1ns), usual, usual, start));
    EXPECT_FALSE(may_inherit(left_after(longest_succession), usual, usual, start));
    const timing brief{.ttl = 80ms};
    EXPECT_TRUE(may_inherit(left_after(9ms, brief), brief, brief, start));
    EXPECT_FALSE(may_inherit(left_after(10ms, brief), brief, brief, start));
}

TEST(estate, is_not_inherited_once_its_ttl_may_have_changed) {
    auto changed = left_after(0s);
    changed.unchanged = false;
    EXPECT_FALSE(may_inherit(changed, usual, usual, start));
}

TEST(estate, is_not_inherited_by_who_would_have_asked_for_something_else) {
    auto wished = usual;
    wished.ttl = 29s;
    EXPECT_FALSE(may_inherit(left_after(0s), usual, wished, start));
    wished = usual;
    wished.guard_time = 5s;
    EXPECT_FALSE(may_inherit(left_after(0s), usual, wished, start));
}

TEST(estate, is_not_inherited_by_who_needs_more_than_is_left) {
    auto wished = usual;
    wished.min_validity = usual.ttl - usual.guard();
    EXPECT_TRUE(may_inherit(left_after(0s), usual, wished, start));
    EXPECT_FALSE(may_inherit(left_after(1ms), usual, wished, start));
}

TEST(estate, tokens_are_drawn_for_as_many_heirs_as_there_may_be_if_there_is_any) {
    EXPECT_EQ(tokens_for(0), 1U);
    EXPECT_EQ(tokens_for(1), most_holders);
    EXPECT_EQ(tokens_for(100'000), most_holders);
}

}  // namespace
}  // namespace holdfast::core
