#include "platform/spin_policy.hpp"

#include <gtest/gtest.h>

namespace holdfast::platform {
namespace {

using namespace std::chrono_literals;
using enum spin_policy::waits_for;

constexpr core::time_point start{1h};

TEST(spin_policy, of_one_to_three_who_wait_for_answers_goes_to_sleep_at_once) {
    spin_policy callers;
    EXPECT_EQ(callers.yields_for(answers, 1, start), 0U);
    EXPECT_EQ(callers.yields_for(answers, 3, start), 0U);
}

TEST(spin_policy, of_many_who_wait_for_answers_lets_others_run) {
    spin_policy callers;
    EXPECT_GT(callers.yields_for(answers, 4, start), 0U);
    EXPECT_GT(callers.yields_for(answers, 1000, start), 0U);
}

TEST(spin_policy, of_a_few_in_line_lets_others_run_many_times) {
    spin_policy callers;
    EXPECT_GT(callers.yields_for(its_turn, 1, start), 10U);
    EXPECT_GT(callers.yields_for(its_turn, 24, start), 10U);
}

TEST(spin_policy, of_many_in_line_goes_to_sleep_at_once) {
    spin_policy callers;
    EXPECT_EQ(callers.yields_for(its_turn, 25, start), 0U);
}

/// How often of a thousand times it lets others run where that is always in vain.
int tries_in_vain(spin_policy& callers, spin_policy::waits_for who) {
    int tried = 0;
    for (int n = 0; n < 1000; ++n) {
        if (callers.yields_for(who, 16, start) == 0) continue;
        ++tried;
        callers.learn(who, false);
    }
    return tried;
}

TEST(spin_policy, hardly_tries_any_more_where_it_is_in_vain) {
    spin_policy callers;
    const int in_lines = tries_in_vain(callers, its_turn);
    EXPECT_GT(in_lines, 10);
    EXPECT_LT(in_lines, 30);
    EXPECT_EQ(tries_in_vain(callers, answers), in_lines) << "each has its own experience";
}

TEST(spin_policy, goes_on_as_before_when_it_is_not_in_vain_any_more) {
    spin_policy callers;
    tries_in_vain(callers, its_turn);
    while (callers.yields_for(its_turn, 4, start) == 0) continue;
    callers.learn(its_turn, true);
    EXPECT_GT(callers.yields_for(its_turn, 4, start), 0U);
}

TEST(spin_policy, takes_longer_the_larger_it_is) {
    EXPECT_FALSE(spin_policy::too_long(64, 2ms));
    EXPECT_TRUE(spin_policy::too_long(8, 5ms));
    EXPECT_FALSE(spin_policy::too_long(256, 5ms));
}

TEST(spin_policy, keeps_the_processor_for_a_while_when_strangers_took_it) {
    spin_policy callers;
    callers.avoid_strangers(4ms, start);
    EXPECT_EQ(callers.yields_for(answers, 64, start), 0U);
    EXPECT_EQ(callers.yields_for(its_turn, 4, start + 99ms), 0U);
    EXPECT_GT(callers.yields_for(its_turn, 4, start + 100ms), 0U);
    EXPECT_GT(callers.yields_for(answers, 64, start + 100ms), 0U);
}

TEST(spin_policy, does_not_forget_strangers_for_shorter_ones) {
    spin_policy callers;
    callers.avoid_strangers(10ms, start);
    callers.avoid_strangers(2ms, start + 1ms);
    EXPECT_EQ(callers.yields_for(its_turn, 4, start + 249ms), 0U);
}

TEST(spin_policy, does_not_take_a_suspended_machine_for_strangers_without_end) {
    spin_policy callers;
    callers.avoid_strangers(1h, start);
    EXPECT_GT(callers.yields_for(its_turn, 4, start + 1s), 0U);
}

}  // namespace
}  // namespace holdfast::platform
