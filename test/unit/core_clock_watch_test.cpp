#include "core/clock_watch.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "unit/core_helpers.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using jump = std::optional<duration>;

constexpr jump none{};
constexpr microseconds epoch{1'700'000'000'000'000};

// A second between looks: 100 ms of tolerance, and 10 ms for a rate that is off by a hundredth.
constexpr auto edge = 110ms;

/// Asks and is answered at the same moment.
jump look(clock_watch& watch, duration since_start, microseconds server_ahead = 0us) {
    const auto server = epoch + std::chrono::duration_cast<microseconds>(since_start);
    return watch.observe(server + server_ahead, at(since_start), at(since_start));
}

TEST(clock_watch, says_nothing_at_the_first_look) {
    clock_watch watch{{}};
    EXPECT_EQ(look(watch, 0s, 1h), none);
}

TEST(clock_watch, says_nothing_while_the_clocks_go_together) {
    clock_watch watch{{}};
    for (int i = 0; i < 100; ++i) EXPECT_EQ(look(watch, std::chrono::seconds{i}), none);
}

TEST(clock_watch, tolerates_a_jump_up_to_the_edge) {
    clock_watch forwards{{}};
    look(forwards, 0s);
    EXPECT_EQ(look(forwards, 1s, edge), none);
    clock_watch backwards{{}};
    look(backwards, 0s);
    EXPECT_EQ(look(backwards, 1s, -edge), none);
}

TEST(clock_watch, notices_a_jump_just_beyond_the_edge) {
    clock_watch forwards{{}};
    look(forwards, 0s);
    EXPECT_EQ(look(forwards, 1s, edge + 1us), jump{100ms + 1us});
    clock_watch backwards{{}};
    look(backwards, 0s);
    EXPECT_EQ(look(backwards, 1s, -edge - 1us), jump{-100ms - 1us});
}

TEST(clock_watch, notices_a_jump_once) {
    clock_watch watch{{}};
    look(watch, 0s);
    EXPECT_NE(look(watch, 1s, 1h), none);
    EXPECT_EQ(look(watch, 2s, 1h), none);
    EXPECT_NE(look(watch, 3s, 0s), none);
    EXPECT_EQ(look(watch, 4s, 0s), none);
}

TEST(clock_watch, follows_a_clock_whose_rate_is_off_by_no_more_than_the_drift) {
    clock_watch watch{{.tolerance = 1ms, .drift_per_mille = 10}};
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(look(watch, std::chrono::seconds{i}, i * 10ms), none) << i;
    }
}

TEST(clock_watch, takes_its_tolerance_and_drift_from_the_settings) {
    clock_watch strict{{.tolerance = 0ms, .drift_per_mille = 0}};
    look(strict, 0s);
    EXPECT_EQ(look(strict, 1s, 1us), jump{1us});
    EXPECT_EQ(look(strict, 2s, 0us), jump{-1us});
    clock_watch lax{{.tolerance = 1s, .drift_per_mille = 100}};
    look(lax, 0s);
    EXPECT_EQ(look(lax, 1s, 1100ms), none);
}

TEST(clock_watch, tolerates_as_much_more_as_the_answer_travelled) {
    const clock_watch::config strict{.tolerance = 0ms, .drift_per_mille = 0};
    // Read at any time within the 300 ms of travel, a clock that did not jump shows this much.
    for (const auto read : {0ms, 150ms, 300ms}) {
        clock_watch watch{strict};
        look(watch, 0s);
        EXPECT_EQ(watch.observe(epoch + 1s + read, at(1s), at(1300ms)), none);
    }
    clock_watch forwards{strict};
    look(forwards, 0s);
    EXPECT_EQ(forwards.observe(epoch + 1300ms + 1us, at(1s), at(1300ms)), jump{1us});
    clock_watch backwards{strict};
    look(backwards, 0s);
    EXPECT_EQ(backwards.observe(epoch + 1s - 1us, at(1s), at(1300ms)), jump{-1us});
}

TEST(clock_watch, allows_for_the_travel_of_the_first_answer_too) {
    clock_watch watch{{.tolerance = 0ms, .drift_per_mille = 0}};
    EXPECT_EQ(watch.observe(epoch, at(0s), at(300ms)), none);
    EXPECT_EQ(look(watch, 1s, 0us), none);
    watch.forget();
    EXPECT_EQ(watch.observe(epoch + 300ms, at(0s), at(300ms)), none);
    EXPECT_EQ(look(watch, 1s, 0us), none);
    watch.forget();
    EXPECT_EQ(watch.observe(epoch + 300ms, at(0s), at(300ms)), none);
    EXPECT_EQ(look(watch, 1s, -1us), jump{-1us});
}

TEST(clock_watch, is_not_blinded_by_a_slow_answer) {
    clock_watch watch{{}};
    look(watch, 0s);
    // It jumped by two seconds, but this answer was five seconds on its way.
    EXPECT_EQ(watch.observe(epoch + 1s + 2s, at(1s), at(6s)), none);
    const auto noticed = look(watch, 7s, 2s);
    ASSERT_TRUE(noticed.has_value());
    EXPECT_GT(*noticed, 1800ms);
    EXPECT_LE(*noticed, 2s);
}

TEST(clock_watch, is_not_blinded_by_a_slow_answer_that_shows_a_tolerable_part_of_the_jump) {
    clock_watch watch{{}};
    look(watch, 0s);
    EXPECT_EQ(watch.observe(epoch + 1s + 2050ms, at(1s), at(3s)), none);
    EXPECT_NE(look(watch, 4s, 2050ms), none);
}

TEST(clock_watch, is_not_blinded_to_a_jump_backwards_either) {
    clock_watch watch{{}};
    look(watch, 0s);
    EXPECT_EQ(watch.observe(epoch + 6s - 2s, at(1s), at(6s)), none);
    EXPECT_NE(look(watch, 7s, -2s), none);
}

TEST(clock_watch, looks_for_the_first_time_again_after_forgetting) {
    clock_watch watch{{}};
    look(watch, 0s);
    watch.forget();
    EXPECT_EQ(look(watch, 1s, 1h), none);
    EXPECT_EQ(look(watch, 2s, 1h), none);
}

// Clocks that jump by no more than is tolerated, once, read at any time on any way, at any rate
// within the drift.
TEST(clock_watch, raises_no_false_alarm) {
    EXPECT_TRUE(rc::check([] {
        clock_watch watch{{}};
        const double rate = 1.0 + *rc::gen::inRange(-9, 10) / 1000.0;
        const auto when = *rc::gen::inRange(0, 30);
        const auto jumped = std::chrono::milliseconds{*rc::gen::inRange(-100, 101)};
        duration now{};
        for (int i = 0; i < 30; ++i) {
            now += std::chrono::microseconds{*rc::gen::inRange(0, 2'000'000)};
            const auto travel = std::chrono::microseconds{*rc::gen::inRange(0, 3'000'000)};
            const auto read = now + travel * *rc::gen::inRange(0, 101) / 100;
            const auto there = std::chrono::duration<double>(read) * rate;
            const auto server =
                epoch + std::chrono::duration_cast<microseconds>(there) + (i < when ? 0ms : jumped);
            RC_ASSERT(!watch.observe(server, at(now), at(now + travel)));
            now += travel;
        }
    }));
}

// Any jump by more than the tolerance, the travel of the next prompt answer and the drift.
TEST(clock_watch, misses_no_jump_for_longer_than_until_the_next_prompt_answer) {
    EXPECT_TRUE(rc::check([] {
        clock_watch watch{{}};
        look(watch, 0s);
        const auto slow_ones = *rc::gen::inRange(0, 5);
        const auto forwards = *rc::gen::arbitrary<bool>();
        const auto jumped = std::chrono::milliseconds{*rc::gen::inRange(1000, 10'000)};
        const auto ahead = forwards ? jumped : -jumped;
        auto now = duration{1s};
        bool noticed = false;
        for (int i = 0; i < slow_ones; ++i, now += 2s) {
            const auto read = now + 1ms * *rc::gen::inRange(0, 2001);
            const auto server = epoch + std::chrono::duration_cast<microseconds>(read) + ahead;
            noticed |= watch.observe(server, at(now), at(now + 2s)).has_value();
        }
        noticed |= look(watch, now, ahead).has_value();
        RC_ASSERT(noticed);
    }));
}

}  // namespace
}  // namespace holdfast::core
