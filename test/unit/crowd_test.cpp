#include "runtime/crowd.hpp"

#include <gtest/gtest.h>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

constexpr core::time_point start{1h};

TEST(crowd, of_a_few_goes_to_sleep_at_once) {
    const crowd callers;
    EXPECT_FALSE(callers.lets_others_run(1, start));
    EXPECT_FALSE(callers.lets_others_run(7, start));
}

TEST(crowd, of_many_lets_others_run) {
    const crowd callers;
    EXPECT_TRUE(callers.lets_others_run(8, start));
    EXPECT_TRUE(callers.lets_others_run(1000, start));
}

TEST(crowd, goes_on_letting_others_run_while_only_its_own_do) {
    crowd callers;
    callers.let_run(64, start, start + 2ms);
    EXPECT_TRUE(callers.lets_others_run(64, start + 2ms));
}

TEST(crowd, takes_longer_the_larger_it_is) {
    crowd small;
    small.let_run(8, start, start + 5ms);
    EXPECT_FALSE(small.lets_others_run(8, start + 5ms));
    crowd large;
    large.let_run(256, start, start + 5ms);
    EXPECT_TRUE(large.lets_others_run(256, start + 5ms));
}

TEST(crowd, keeps_the_processor_for_a_while_when_strangers_took_it) {
    crowd callers;
    callers.let_run(64, start, start + 4ms);
    EXPECT_FALSE(callers.lets_others_run(64, start + 4ms));
    EXPECT_FALSE(callers.lets_others_run(64, start + 103ms));
    EXPECT_TRUE(callers.lets_others_run(64, start + 104ms));
}

}  // namespace
}  // namespace holdfast::runtime
