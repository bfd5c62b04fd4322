#include "core/hand_off.hpp"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

constexpr time_point start{100s};
constexpr timing usual{.ttl = 30s};

/// Of three who may have it in turn; the fifth in line was the last to come before it was asked
/// for.
constexpr hand_off_batch three{.tokens = 3, .last = 5};

grant left_after(duration held, const timing& asked_for = usual) {
    return first_grant(start - held, asked_for.valid_until(start - held), {107}, three);
}

bool inherits(const grant& left, const timing& granted, const timing& wished) {
    return may_hand_off(left, granted, {.wished = wished, .joined = three.last}, start);
}

TEST(grant, the_first_holder_has_the_first_of_the_tokens) {
    const auto first = first_grant(start, usual.valid_until(start), {107}, three);
    EXPECT_EQ(first.token, fencing_token{105});
    EXPECT_EQ(first.hand_offs_left, 2U);
}

TEST(grant, every_heir_has_a_token_of_its_own_and_the_last_is_where_the_counters_stand) {
    const auto second = hand_off(left_after(0s));
    const auto third = hand_off(second);
    EXPECT_EQ(second.token, fencing_token{106});
    EXPECT_EQ(third.token, fencing_token{107});
    EXPECT_TRUE(inherits(second, usual, usual));
    EXPECT_FALSE(inherits(third, usual, usual));
}

TEST(grant, an_heir_believes_no_longer_than_who_left_it) {
    EXPECT_EQ(hand_off(left_after(10ms)).valid_until, left_after(10ms).valid_until);
    EXPECT_EQ(hand_off(left_after(10ms)).sent_at, start - 10ms);
}

TEST(grant, without_fencing_there_are_heirs_but_no_tokens) {
    const auto first = first_grant(start, usual.valid_until(start), {}, three);
    EXPECT_EQ(first.token, fencing_token{});
    EXPECT_TRUE(inherits(first, usual, usual));
    EXPECT_EQ(hand_off(first).token, fencing_token{});
}

TEST(grant, is_inherited_while_it_is_young) {
    EXPECT_TRUE(inherits(left_after(hand_off_window - 1ns), usual, usual));
    EXPECT_FALSE(inherits(left_after(hand_off_window), usual, usual));
    const timing brief{.ttl = 80ms};
    EXPECT_TRUE(inherits(left_after(9ms, brief), brief, brief));
    EXPECT_FALSE(inherits(left_after(10ms, brief), brief, brief));
}

TEST(grant, is_not_inherited_once_its_ttl_may_have_changed) {
    auto changed = left_after(0s);
    changed.unchanged = false;
    EXPECT_FALSE(inherits(changed, usual, usual));
}

TEST(grant, is_not_inherited_under_an_owner_that_was_shown) {
    auto seen = left_after(0s);
    seen.shown = true;
    EXPECT_FALSE(inherits(seen, usual, usual));
}

TEST(grant, is_not_inherited_by_who_would_have_asked_for_something_else) {
    auto wished = usual;
    wished.ttl = 29s;
    EXPECT_FALSE(inherits(left_after(0s), usual, wished));
    wished = usual;
    wished.guard_time = 5s;
    EXPECT_FALSE(inherits(left_after(0s), usual, wished));
}

TEST(grant, is_not_inherited_by_who_needs_more_than_is_left) {
    auto wished = usual;
    wished.min_validity = usual.ttl - usual.guard();
    EXPECT_TRUE(inherits(left_after(0s), usual, wished));
    EXPECT_FALSE(inherits(left_after(1ms), usual, wished));
}

// Between the request and the latecomer the servers may have given the lock, and a larger token, to
// somebody else.
TEST(grant, is_not_inherited_by_who_came_after_it_was_asked_for) {
    const auto left = left_after(0s);
    EXPECT_TRUE(may_hand_off(left, usual, {.wished = usual, .joined = 5}, start));
    EXPECT_FALSE(may_hand_off(left, usual, {.wished = usual, .joined = 6}, start));
    EXPECT_FALSE(may_hand_off(hand_off(left), usual, {.wished = usual, .joined = 6}, start));
}

TEST(grant, is_nobodys_to_inherit_unless_somebody_stood_in_line) {
    EXPECT_FALSE(may_hand_off({.hand_offs_left = 3}, usual, {.wished = usual, .joined = 1}, start));
}

TEST(hand_off, a_token_is_drawn_for_each_who_stands_in_line) {
    local_queue line;
    EXPECT_EQ(batch_for(1, line), (hand_off_batch{.tokens = 1, .last = 0}));
    line.join(1);
    EXPECT_EQ(batch_for(1, line), (hand_off_batch{.tokens = 1, .last = 1}));
    line.join(2);
    line.join(3);
    EXPECT_EQ(batch_for(1, line), (hand_off_batch{.tokens = 3, .last = 3}));
    line.leave(2);
    EXPECT_EQ(batch_for(1, line), (hand_off_batch{.tokens = 2, .last = 3}));
}

TEST(hand_off, who_does_not_wait_asks_for_all_who_do) {
    local_queue line;
    line.join(1);
    line.join(2);
    EXPECT_EQ(batch_for(7, line), (hand_off_batch{.tokens = 3, .last = 2}));
}

TEST(hand_off, is_bounded_however_many_wait) {
    local_queue line;
    for (local_id each = 1; each <= 100; ++each) line.join(each);
    EXPECT_EQ(batch_for(1, line), (hand_off_batch{.tokens = most_holders, .last = 100}));
}

}  // namespace
}  // namespace holdfast::core
