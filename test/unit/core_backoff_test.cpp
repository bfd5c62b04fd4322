#include "core/backoff.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "unit/core_helpers.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t least_chance = 0;

TEST(fraction_of, stays_below_the_span) {
    EXPECT_EQ(fraction_of(10ns, 0), 0ns);
    EXPECT_EQ(fraction_of(10ns, 9), 9ns);
    EXPECT_EQ(fraction_of(10ns, 10), 0ns);
    EXPECT_EQ(fraction_of(duration::max(), std::numeric_limits<std::uint64_t>::max()), 1ns);
}

TEST(fraction_of, nothing_is_nothing) {
    EXPECT_EQ(fraction_of(0ns, 12345), 0ns);
    EXPECT_EQ(fraction_of(-5ns, 12345), 0ns);
}

TEST(backoff, doubles_until_the_longest_delay) {
    backoff delay{2ms, 10ms};
    EXPECT_EQ(delay.next(least_chance), 1ms);
    EXPECT_EQ(delay.next(least_chance), 2ms);
    EXPECT_EQ(delay.next(least_chance), 4ms);
    EXPECT_EQ(delay.next(least_chance), 5ms);
    EXPECT_EQ(delay.next(least_chance), 5ms);
}

TEST(backoff, leaves_half_of_each_delay_to_chance) {
    backoff delay{2ms, 10ms};
    EXPECT_EQ(delay.next(999'999), 2ms - 1ns);
    EXPECT_EQ(delay.next(1'999'999), 4ms - 1ns);
    EXPECT_EQ(delay.next(4'000'000), 4ms);
}

TEST(backoff, begins_anew_after_a_reset) {
    backoff delay{2ms, 10ms};
    for (int i = 0; i < 10; ++i) delay.next(least_chance);
    delay.reset();
    EXPECT_EQ(delay.next(least_chance), 1ms);
    EXPECT_EQ(delay.next(least_chance), 2ms);
}

TEST(backoff, never_exceeds_the_longest_delay_even_at_first) {
    backoff delay{20ms, 10ms};
    EXPECT_EQ(delay.next(least_chance), 5ms);
    delay.reset();
    EXPECT_EQ(delay.next(least_chance), 5ms);
}

TEST(backoff, does_not_overflow_however_often_it_is_asked) {
    backoff endless{1ns, duration::max()};
    backoff none{0ns, 10ms};
    duration last{};
    for (int i = 0; i < 200; ++i) {
        last = endless.next(least_chance);
        EXPECT_EQ(none.next(~std::uint64_t{0}), 0ns);
    }
    EXPECT_EQ(last, duration::max() / 2);
}

TEST(backoff, lies_between_half_and_whole_of_its_doubling) {
    EXPECT_TRUE(rc::check([] {
        const duration first{*rc::gen::inRange<std::int64_t>(2, 1'000'000)};
        const duration most{*rc::gen::inRange<std::int64_t>(2, 1'000'000'000)};
        backoff delay{first, most};
        auto whole = std::min(first, most);
        for (int i = 0; i < 40; ++i) {
            const auto next = delay.next(*rc::gen::arbitrary<std::uint64_t>());
            RC_ASSERT(next >= whole / 2);
            RC_ASSERT(next < whole);
            whole = std::min(whole * 2, most);
        }
    }));
}

}  // namespace
}  // namespace holdfast::core
