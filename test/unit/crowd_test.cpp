#include "platform/crowd.hpp"

#include <gtest/gtest.h>

namespace holdfast::platform {
namespace {

using namespace std::chrono_literals;
using enum crowd::kind;

constexpr core::time_point start{1h};

TEST(crowd, of_one_to_three_who_wait_for_answers_goes_to_sleep_at_once) {
    crowd callers;
    EXPECT_EQ(callers.allot(for_answers, 1, start), 0U);
    EXPECT_EQ(callers.allot(for_answers, 3, start), 0U);
}

TEST(crowd, of_many_who_wait_for_answers_lets_others_run) {
    crowd callers;
    EXPECT_GT(callers.allot(for_answers, 4, start), 0U);
    EXPECT_GT(callers.allot(for_answers, 1000, start), 0U);
}

TEST(crowd, of_a_few_in_line_lets_others_run_many_times) {
    crowd callers;
    EXPECT_GT(callers.allot(in_line, 1, start), 10U);
    EXPECT_GT(callers.allot(in_line, 24, start), 10U);
}

TEST(crowd, of_many_in_line_goes_to_sleep_at_once) {
    crowd callers;
    EXPECT_EQ(callers.allot(in_line, 25, start), 0U);
}

/// How often of a thousand times it lets others run where that is always in vain.
int tries_in_vain(crowd& callers, crowd::kind who) {
    int tried = 0;
    for (int n = 0; n < 1000; ++n) {
        if (callers.allot(who, 16, start) == 0) continue;
        ++tried;
        callers.let_run(who, false);
    }
    return tried;
}

TEST(crowd, hardly_tries_any_more_where_it_is_in_vain) {
    crowd callers;
    const int in_lines = tries_in_vain(callers, in_line);
    EXPECT_GT(in_lines, 10);
    EXPECT_LT(in_lines, 30);
    EXPECT_EQ(tries_in_vain(callers, for_answers), in_lines) << "each has its own experience";
}

TEST(crowd, goes_on_as_before_when_it_is_not_in_vain_any_more) {
    crowd callers;
    tries_in_vain(callers, in_line);
    while (callers.allot(in_line, 4, start) == 0) continue;
    callers.let_run(in_line, true);
    EXPECT_GT(callers.allot(in_line, 4, start), 0U);
}

TEST(crowd, takes_longer_the_larger_it_is) {
    EXPECT_FALSE(crowd::too_long(64, 2ms));
    EXPECT_TRUE(crowd::too_long(8, 5ms));
    EXPECT_FALSE(crowd::too_long(256, 5ms));
}

TEST(crowd, keeps_the_processor_for_a_while_when_strangers_took_it) {
    crowd callers;
    callers.avoid_strangers(4ms, start);
    EXPECT_EQ(callers.allot(for_answers, 64, start), 0U);
    EXPECT_EQ(callers.allot(in_line, 4, start + 99ms), 0U);
    EXPECT_GT(callers.allot(in_line, 4, start + 100ms), 0U);
    EXPECT_GT(callers.allot(for_answers, 64, start + 100ms), 0U);
}

TEST(crowd, does_not_forget_strangers_for_shorter_ones) {
    crowd callers;
    callers.avoid_strangers(10ms, start);
    callers.avoid_strangers(2ms, start + 1ms);
    EXPECT_EQ(callers.allot(in_line, 4, start + 249ms), 0U);
}

TEST(crowd, does_not_take_a_suspended_machine_for_strangers_without_end) {
    crowd callers;
    callers.avoid_strangers(1h, start);
    EXPECT_GT(callers.allot(in_line, 4, start + 1s), 0U);
}

}  // namespace
}  // namespace holdfast::platform
