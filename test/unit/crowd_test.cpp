#include "runtime/crowd.hpp"

#include <gtest/gtest.h>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

constexpr core::time_point start{1h};
constexpr bool in_line = true;
constexpr bool for_an_answer = false;

TEST(crowd, of_a_few_who_wait_for_an_answer_goes_to_sleep_at_once) {
    crowd callers;
    EXPECT_EQ(callers.turns(1, for_an_answer, start), 0U);
    EXPECT_EQ(callers.turns(7, for_an_answer, start), 0U);
}

TEST(crowd, of_many_who_wait_for_an_answer_lets_others_run_once) {
    crowd callers;
    EXPECT_EQ(callers.turns(8, for_an_answer, start), 1U);
    EXPECT_EQ(callers.turns(1000, for_an_answer, start), 1U);
}

TEST(crowd, of_a_few_in_line_lets_others_run_many_times) {
    crowd callers;
    EXPECT_GT(callers.turns(1, in_line, start), 10U);
    EXPECT_GT(callers.turns(16, in_line, start), 10U);
}

TEST(crowd, of_many_in_line_goes_to_sleep_at_once) {
    crowd callers;
    EXPECT_EQ(callers.turns(64, in_line, start), 0U);
}

TEST(crowd, stops_trying_where_it_is_in_vain) {
    crowd callers;
    int tried = 0;
    for (int n = 0; n < 1000; ++n) {
        if (callers.turns(4, in_line, start) == 0) continue;
        ++tried;
        callers.let_run_in_line(false);
    }
    EXPECT_GT(tried, 10);
    EXPECT_LT(tried, 30);
}

TEST(crowd, goes_on_as_before_when_it_is_not_in_vain_any_more) {
    crowd callers;
    for (int n = 0; n < 1000; ++n) {
        if (callers.turns(4, in_line, start) > 0) callers.let_run_in_line(false);
    }
    while (callers.turns(4, in_line, start) == 0) continue;
    callers.let_run_in_line(true);
    EXPECT_GT(callers.turns(4, in_line, start), 0U);
}

TEST(crowd, takes_longer_the_larger_it_is) {
    EXPECT_FALSE(crowd::met_strangers(64, 2ms));
    EXPECT_TRUE(crowd::met_strangers(8, 5ms));
    EXPECT_FALSE(crowd::met_strangers(256, 5ms));
}

TEST(crowd, keeps_the_processor_for_a_while_when_strangers_took_it) {
    crowd callers;
    callers.avoid_strangers(4ms, start);
    EXPECT_EQ(callers.turns(64, for_an_answer, start), 0U);
    EXPECT_EQ(callers.turns(4, in_line, start + 99ms), 0U);
    EXPECT_GT(callers.turns(4, in_line, start + 100ms), 0U);
    EXPECT_EQ(callers.turns(64, for_an_answer, start + 100ms), 1U);
}

}  // namespace
}  // namespace holdfast::runtime
