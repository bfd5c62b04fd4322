#include <gtest/gtest.h>

#include "core/tuning.hpp"
#include "unit/core_contend_helpers.hpp"

// One voter, at which those who are denied stand in line.
namespace holdfast::core {
namespace {

using tuning::waiting::expiry_later;
using tuning::waiting::look_every;
using tuning::waiting::look_later;

constexpr denial_summary first_in_line{.remaining = 30s, .place = 1, .called = true};
constexpr denial_summary second_in_line{.place = 2, .called = true};
constexpr denial_summary in_no_line{.remaining = 30s};
constexpr denial_summary never_called{.remaining = 30s, .place = 1};
constexpr attempted denied(const denial_summary& how) { return {verdict::contended, how}; }

/// In its first attempt, at 0 s.
contend asking(const contend::config& settings = config_for(1)) {
    contend machine{settings};
    machine.step(contend::turn{}, at(0s), no_jitter);
    return machine;
}

/// Denied at 1 s.
contend standing(const denial_summary& how = first_in_line) {
    auto machine = asking();
    machine.step(denied(how), at(1s), no_jitter);
    return machine;
}

TEST(contend_in_line, sleeps_from_the_first_denial_on_until_it_is_called) {
    auto machine = asking();
    EXPECT_EQ(machine.step(denied(second_in_line), at(0s), no_jitter),
              sleep_until(at(look_every + look_later)));
    EXPECT_EQ(machine.current(), state::waiting);
    EXPECT_EQ(machine.step(contend::tick{}, at(look_every), no_jitter),
              sleep_until(at(look_every + look_later)));
    EXPECT_EQ(machine.step(contend::notified{node(0)}, at(500ms), no_jitter), quiet_attempt);
}

TEST(contend_in_line, asks_again_at_once_if_it_was_called_while_it_asked) {
    auto machine = asking();
    EXPECT_EQ(machine.step(contend::notified{node(0)}, at(0s), no_jitter), until_limit);
    EXPECT_EQ(machine.step(denied(first_in_line), at(1ms), no_jitter), quiet_attempt);
    EXPECT_EQ(machine.step(denied(first_in_line), at(2ms), no_jitter),
              sleep_until(at(2ms + look_every)))
        << "one call is good for one attempt";
}

TEST(contend_in_line, asks_again_at_once_if_its_turn_came_while_it_asked) {
    auto machine = asking();
    EXPECT_EQ(machine.step(contend::turn{}, at(0s), no_jitter), until_limit);
    EXPECT_EQ(machine.step(denied(first_in_line), at(1ms), no_jitter), quiet_attempt);
}

TEST(contend_in_line, looks_once_a_second_for_a_call_that_was_lost) {
    auto machine = standing(second_in_line);
    const auto later = look_every + look_later;
    for (auto now = at(1s); now < at(10s); now += later) {
        EXPECT_EQ(machine.step(contend::tick{}, now + later, no_jitter), quiet_attempt);
        EXPECT_EQ(machine.step(denied(second_in_line), now + later, no_jitter),
                  sleep_until(now + 2 * later));
    }
}

TEST(contend_in_line, looks_a_little_earlier_by_chance_so_that_not_all_look_together) {
    auto machine = asking();
    const auto chance = static_cast<std::uint64_t>((look_every / 8).count() - 1);
    EXPECT_EQ(machine.step(denied(second_in_line), at(0s), chance),
              sleep_until(at(look_every - look_every / 8 + 1ns + look_later)));
}

TEST(contend_in_line, who_is_first_looks_when_the_lease_of_the_holder_ends) {
    auto machine = asking();
    constexpr denial_summary soon{.remaining = 200ms, .place = 1, .called = true};
    EXPECT_EQ(machine.step(denied(soon), at(0s), no_jitter), sleep_until(at(201ms)));
    EXPECT_EQ(machine.step(contend::tick{}, at(201ms), no_jitter), quiet_attempt);
    constexpr denial_summary now{.remaining = 0s, .place = 1, .called = true};
    EXPECT_EQ(machine.step(denied(now), at(1s), 2'999'999), sleep_until(at(1004ms - 1ns)));
}

TEST(contend_in_line, who_is_first_still_looks_once_a_second_if_the_lease_is_long) {
    auto machine = asking();
    EXPECT_EQ(machine.step(denied(first_in_line), at(0s), no_jitter), sleep_until(at(look_every)));
    machine.step(contend::tick{}, at(look_every), no_jitter);
    constexpr denial_summary for_ever{.place = 1, .called = true};
    EXPECT_EQ(machine.step(denied(for_ever), at(1s), no_jitter), sleep_until(at(1s + look_every)));
}

TEST(contend_in_line, who_cannot_be_called_polls_less_and_less_often) {
    for (const auto& how : {in_no_line, never_called}) {
        auto machine = asking();
        for (const auto delay : {1ms, 2ms, 4ms, 8ms, 16ms, 32ms, 64ms, 128ms, 250ms, 250ms}) {
            EXPECT_EQ(machine.step(denied(how), at(1s), no_jitter), sleep_until(at(1s + delay)));
            EXPECT_EQ(machine.step(contend::tick{}, at(1s + delay), no_jitter), quiet_attempt);
        }
    }
}

TEST(contend_in_line, looks_more_seldom_the_more_stand_before_it) {
    auto machine = asking();
    EXPECT_EQ(machine.step(denied({.place = 5001, .called = true}), at(0s), no_jitter),
              sleep_until(at(look_every + 5000 * look_later)));
}

TEST(contend_in_line, looks_a_little_after_those_before_it_when_the_lease_ends) {
    auto machine = asking();
    const denial_summary third{.remaining = 100ms, .place = 3, .called = true};
    EXPECT_EQ(machine.step(denied(third), at(0s), no_jitter),
              sleep_until(at(100ms + 1ms + 2 * expiry_later)));
}

TEST(contend_in_line, who_cannot_be_called_does_not_poll_beyond_the_end_of_the_lease) {
    auto machine = asking();
    for (int n = 0; n < 20; ++n) {
        machine.step(denied(in_no_line), at(1s), no_jitter);
        machine.step(contend::tick{}, at(2s), no_jitter);
    }
    EXPECT_EQ(machine.step(denied({.remaining = 10ms}), at(3s), no_jitter),
              sleep_until(at(3s + 11ms)));
}

TEST(contend_in_line, who_could_be_called_meanwhile_begins_to_poll_quickly_again) {
    auto machine = asking();
    for (int n = 0; n < 5; ++n) {
        machine.step(denied(in_no_line), at(1s), no_jitter);
        machine.step(contend::tick{}, at(2s), no_jitter);
    }
    machine.step(denied(first_in_line), at(2s), no_jitter);
    machine.step(contend::tick{}, at(3s), no_jitter);
    EXPECT_EQ(machine.step(denied(in_no_line), at(3s), no_jitter), sleep_until(at(3s + 1ms)));
}

TEST(contend_in_line, chance_never_delays_who_was_called) {
    for (const std::uint64_t chance : {0ULL, 1'234'567ULL, ~0ULL}) {
        auto machine = standing();
        EXPECT_EQ(machine.step(contend::notified{node(0)}, at(2s), chance), quiet_attempt);
        EXPECT_EQ(machine.step(attempted{verdict::held}, at(2s), chance), finish);
        EXPECT_EQ(machine.outcome(), verdict::held);
    }
}

TEST(contend_in_line, gives_up_when_its_time_is_over_and_says_that_others_had_it) {
    auto settings = config_for(1);
    settings.give_up_at = at(1500ms);
    auto machine = asking(settings);
    EXPECT_EQ(machine.step(denied(first_in_line), at(1s), no_jitter), sleep_until(at(1500ms)));
    EXPECT_EQ(machine.step(contend::tick{}, at(1500ms), no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::contended);
}

TEST(contend_in_line, gives_up_while_it_claims_with_what_it_met_before) {
    auto machine = standing();
    machine.step(contend::notified{node(0)}, at(2s), no_jitter);
    EXPECT_EQ(machine.step(contend::tick{}, limit, no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::contended);
}

TEST(contend_in_line, can_be_cancelled_while_it_stands_there) {
    auto machine = standing();
    EXPECT_EQ(machine.step(contend::cancelled{}, at(2s), no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::cancelled);
    EXPECT_EQ(machine.step(contend::notified{node(0)}, at(2s), no_jitter), ignored);
}

TEST(contend_in_line, is_not_stood_in_by_who_does_not_wait) {
    auto settings = config_for(1);
    settings.waits = false;
    auto machine = asking(settings);
    machine.step(contend::notified{node(0)}, at(0s), no_jitter);
    EXPECT_EQ(machine.step(denied({.remaining = 1s}), at(0s), no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::contended);
}

TEST(contend_in_line, tries_again_while_its_patience_with_an_outage_lasts) {
    auto machine = standing();
    machine.step(contend::tick{}, at(2s), no_jitter);
    EXPECT_EQ(machine.step(attempted{verdict::unreachable}, at(3s), no_jitter),
              sleep_until(at(3s + 1ms)));
    machine.step(contend::tick{}, at(3s + 1ms), no_jitter);
    EXPECT_EQ(machine.step(attempted{verdict::unreachable}, at(13s), no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::unreachable);
}

TEST(contend_in_line, asks_at_once_when_the_server_is_back_or_calls_during_an_outage) {
    auto machine = standing();
    machine.step(contend::tick{}, at(2s), no_jitter);
    machine.step(attempted{verdict::unreachable}, at(3s), no_jitter);
    EXPECT_EQ(machine.step(contend::notified{node(0)}, at(3s), no_jitter), quiet_attempt);
}

TEST(contend_in_line, regains_its_patience_when_it_is_denied) {
    auto machine = asking();
    machine.step(attempted{verdict::unreachable}, at(1s), no_jitter);
    machine.step(contend::tick{}, at(2s), no_jitter);
    machine.step(denied(first_in_line), at(3s), no_jitter);
    machine.step(contend::tick{}, at(5s), no_jitter);
    EXPECT_EQ(machine.step(attempted{verdict::unreachable}, at(20s), no_jitter).what, action::none);
}

TEST(contend_in_line, learns_of_no_spread_that_would_part_it_from_others) {
    auto machine = standing();
    machine.step(contend::notified{node(0)}, at(2s), no_jitter);
    machine.step(attempted{verdict::held}, at(2s), no_jitter);
    EXPECT_EQ(machine.met(), (contention{.known = true}));
    auto alone = asking();
    alone.step(attempted{verdict::held}, at(2s), no_jitter);
    EXPECT_EQ(alone.met(), contention{});
}

}  // namespace
}  // namespace holdfast::core
