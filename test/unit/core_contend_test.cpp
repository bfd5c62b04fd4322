#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "unit/core_contend_helpers.hpp"

// Several voters, unless said otherwise. One voter: core_contend_in_line_test.cpp.
namespace holdfast::core {
namespace {

// Idle.

TEST(contend, attempts_when_it_is_its_turn) {
    auto machine = idle();
    EXPECT_EQ(machine.current(), state::idle);
    EXPECT_EQ(machine.step(contend::turn{}, at(0s), no_jitter), quiet_attempt);
    EXPECT_EQ(machine.current(), state::attempting);
    EXPECT_EQ(machine.outcome(), verdict::none);
}

TEST(contend, lets_others_go_first_for_a_while_when_asked_to) {
    auto machine = idle();
    const contend::turn polite{.others = {.known = true}, .pause = 1ms};
    EXPECT_EQ(machine.step(polite, at(0s), no_jitter), sleep_until(at(1ms)));
    EXPECT_EQ(machine.step(contend::notified{{0}}, at(500us), no_jitter), sleep_until(at(1ms)));
    EXPECT_EQ(machine.step(contend::tick{}, at(1ms), no_jitter), attempt);
}

TEST(contend, asks_at_once_if_it_has_less_time_than_others_would_get) {
    auto machine = idle();
    EXPECT_EQ(machine.step(contend::turn{.pause = 1ms}, limit - 1ms, no_jitter), quiet_attempt);
}

TEST(contend, holds_what_it_inherits_whether_it_stands_in_line_or_waits) {
    for (auto machine : {idle(), waiting(), waiting(5)}) {
        EXPECT_EQ(machine.step(contend::handed_off{}, at(2s), no_jitter), finish);
        EXPECT_EQ(machine.outcome(), verdict::held);
        EXPECT_EQ(machine.step(contend::notified{{0}}, at(2s), no_jitter), ignored);
    }
}

TEST(contend, asks_to_be_told_at_once_where_rivals_are_known) {
    auto machine = idle();
    EXPECT_EQ(machine.step(contend::turn{.others = {.known = true}}, at(0s), no_jitter), attempt);
}

TEST(contend, asks_to_be_told_in_a_second_attempt_that_follows_the_first_denial_at_once) {
    auto machine = idle();
    machine.step(contend::turn{}, at(0s), no_jitter);
    EXPECT_EQ(machine.step(attempted{verdict::contended, {.remaining = 1s}}, at(1s), no_jitter),
              attempt);
    EXPECT_EQ(machine.step(attempted{verdict::contended, tracked_for_a_second}, at(1s), no_jitter),
              sleep_until(at(2s + 1ms)));
}

TEST(contend, steps_back_from_a_split_vote_before_it_asks_to_be_told) {
    auto machine = idle(3);
    machine.step(contend::turn{}, at(0s), no_jitter);
    EXPECT_EQ(machine.step(attempted{verdict::contended, split_vote}, at(1s), no_jitter),
              sleep_until(at(1s + 1ms)));
    EXPECT_EQ(machine.step(contend::tick{}, at(1s + 1ms), no_jitter), attempt);
}

TEST(contend, never_asks_to_be_told_when_it_does_not_wait) {
    auto settings = config_for(3);
    settings.waits = false;
    contend machine{settings};
    EXPECT_EQ(machine.step(contend::turn{.others = {.known = true}}, at(0s), no_jitter),
              quiet_attempt);
}

TEST(contend, is_not_hastened_while_it_stands_in_the_local_line) {
    auto machine = idle();
    EXPECT_EQ(machine.step(contend::notified{node(0)}, at(0s), no_jitter), until_limit);
    EXPECT_EQ(machine.step(contend::tick{}, limit - 1ns, no_jitter), until_limit);
    EXPECT_EQ(machine.current(), state::idle);
}

TEST(contend, gives_up_in_the_local_line_when_its_time_is_over) {
    auto machine = idle();
    EXPECT_EQ(machine.step(contend::tick{}, limit, no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::contended);
}

TEST(contend, can_be_cancelled_in_every_state) {
    for (auto machine : {idle(), attempting(), waiting()}) {
        EXPECT_EQ(machine.step(contend::cancelled{}, at(1s), no_jitter), finish);
        EXPECT_EQ(machine.current(), state::done);
        EXPECT_EQ(machine.outcome(), verdict::cancelled);
    }
}

// Attempting.

TEST(contend, is_done_when_the_attempt_holds) {
    auto machine = attempting();
    EXPECT_EQ(machine.step(attempted{verdict::held}, at(1s), no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::held);
}

TEST(contend, is_done_when_the_attempt_was_cancelled) {
    auto machine = attempting();
    EXPECT_EQ(machine.step(attempted{verdict::cancelled}, at(1s), no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::cancelled);
}

TEST(contend, does_not_wait_unless_asked_to) {
    for (const auto how : {verdict::contended, verdict::unreachable, verdict::too_late}) {
        auto settings = config_for(3);
        settings.waits = false;
        auto machine = attempting(settings);
        EXPECT_EQ(machine.step(attempted{how, tracked_for_a_second}, at(1s), no_jitter), finish);
        EXPECT_EQ(machine.outcome(), how);
    }
}

TEST(contend, sleeps_until_the_lease_of_the_holder_would_run_out) {
    auto machine = attempting();
    EXPECT_EQ(machine.step(attempted{verdict::contended, tracked_for_a_second}, at(1s), no_jitter),
              sleep_until(at(2s + 1ms)));
    EXPECT_EQ(machine.current(), state::waiting);
}

TEST(contend, spreads_those_who_wait_for_the_same_expiry) {
    auto machine = attempting();
    EXPECT_EQ(machine.step(attempted{verdict::contended, tracked_for_a_second}, at(1s), 2'999'999),
              sleep_until(at(2s + 4ms - 1ns)));
}

TEST(contend, looks_soon_after_an_expiry_that_is_due_now) {
    auto machine = attempting();
    EXPECT_EQ(machine.step(attempted{verdict::contended, {.remaining = 0s, .tracked = true}},
                           at(1s), no_jitter),
              sleep_until(at(1s + 1ms)));
}

TEST(contend, has_a_net_for_the_case_that_the_word_is_lost) {
    for (const auto& other : {denial_summary{.remaining = 1h, .tracked = true}, tracked_for_ever}) {
        auto machine = attempting();
        EXPECT_EQ(machine.step(attempted{verdict::contended, other}, at(1s), no_jitter),
                  sleep_until(at(6s)));
    }
}

TEST(contend, wakes_at_the_expiry_up_to_the_net_exactly) {
    auto machine = attempting();
    const denial_summary other{.remaining = 5s - 1ms - 1ns, .tracked = true};
    EXPECT_EQ(machine.step(attempted{verdict::contended, other}, at(1s), no_jitter),
              sleep_until(at(6s - 1ns)));
}

TEST(contend, polls_less_and_less_often_where_it_will_not_be_told) {
    auto machine = attempting();
    for (const auto delay : {1ms, 2ms, 4ms, 8ms, 16ms, 32ms, 64ms, 128ms, 250ms, 250ms}) {
        EXPECT_EQ(machine.step(attempted{verdict::contended, untracked}, at(1s), no_jitter),
                  sleep_until(at(1s + delay)));
        EXPECT_EQ(machine.step(contend::tick{}, at(1s + delay), no_jitter), attempt);
    }
}

TEST(contend, does_not_poll_beyond_the_expiry) {
    auto machine = attempting();
    for (int i = 0; i < 20; ++i) {
        machine.step(attempted{verdict::contended, untracked}, at(1s), no_jitter);
        machine.step(contend::tick{}, limit - 1ns, no_jitter);
    }
    EXPECT_EQ(machine.step(attempted{verdict::contended, {.remaining = 10ms}}, at(1s), no_jitter),
              sleep_until(at(1s + 11ms)));
}

TEST(contend, begins_to_poll_quickly_again_after_a_holder_whose_release_it_will_be_told) {
    auto machine = attempting();
    for (int i = 0; i < 5; ++i) {
        machine.step(attempted{verdict::contended, untracked}, at(1s), no_jitter);
        machine.step(contend::turn{}, at(1s), no_jitter);
    }
    machine.step(attempted{verdict::contended, tracked_for_a_second}, at(1s), no_jitter);
    machine.step(contend::turn{}, at(1s), no_jitter);
    EXPECT_EQ(machine.step(attempted{verdict::contended, untracked}, at(1s), no_jitter),
              sleep_until(at(1s + 1ms)));
}

TEST(contend, attempts_again_at_once_if_a_majority_told_while_it_attempted) {
    for (const std::size_t count : {3U, 5U, 7U}) {
        auto machine = attempting(count);
        for (std::size_t i = 0; i < majority(count); ++i) {
            EXPECT_EQ(machine.step(contend::notified{node(i)}, at(1s), no_jitter), until_limit);
        }
        EXPECT_EQ(
            machine.step(attempted{verdict::contended, tracked_for_a_second}, at(1s), no_jitter),
            attempt);
        // What was told before this attempt began is used up.
        EXPECT_EQ(
            machine.step(attempted{verdict::contended, tracked_for_a_second}, at(1s), no_jitter),
            sleep_until(at(2s + 1ms)));
    }
}

TEST(contend, attempts_soon_if_a_minority_told_while_it_attempted) {
    auto machine = attempting(3);
    machine.step(contend::notified{node(2)}, at(1s), no_jitter);
    machine.step(contend::notified{node(2)}, at(1s), no_jitter);
    EXPECT_EQ(machine.step(attempted{verdict::contended, tracked_for_a_second}, at(1s), 999'999),
              sleep_until(at(1s + 2ms - 1ns)));
}

TEST(contend, attempts_again_at_once_if_its_turn_came_while_it_attempted) {
    auto machine = attempting(3);
    EXPECT_EQ(machine.step(contend::turn{}, at(1s), no_jitter), until_limit);
    EXPECT_EQ(machine.step(attempted{verdict::contended, tracked_for_a_second}, at(1s), no_jitter),
              attempt);
}

TEST(contend, gives_up_in_the_middle_of_an_attempt_when_its_time_is_over) {
    auto machine = attempting();
    EXPECT_EQ(machine.step(contend::tick{}, limit - 1ns, no_jitter), until_limit);
    EXPECT_EQ(machine.step(contend::tick{}, limit, no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::unreachable);  // nobody has ever answered
}

TEST(contend, gives_up_in_the_middle_of_a_later_attempt_with_what_the_last_one_met) {
    auto machine = attempting();
    machine.step(attempted{verdict::contended, tracked_for_a_second}, at(1s), no_jitter);
    EXPECT_EQ(machine.step(contend::turn{}, at(2s), no_jitter), attempt);
    EXPECT_EQ(machine.step(contend::tick{}, limit, no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::contended);
}

TEST(contend, gives_up_after_an_attempt_that_ends_when_its_time_is_over) {
    for (const auto how : {verdict::contended, verdict::unreachable, verdict::too_late}) {
        auto in_time = attempting();
        EXPECT_EQ(in_time.step(attempted{how}, limit - 1ns, no_jitter), until_limit);
        auto late = attempting();
        EXPECT_EQ(late.step(attempted{how}, limit, no_jitter), finish);
        EXPECT_EQ(late.outcome(), how);
    }
}

TEST(contend, takes_a_lock_that_it_gets_when_its_time_is_over) {
    auto machine = attempting();
    EXPECT_EQ(machine.step(attempted{verdict::held}, limit, no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::held);
}

// Waiting.

TEST(contend, attempts_as_soon_as_a_majority_has_told) {
    for (const std::size_t count : {3U, 5U, 7U}) {
        auto machine = waiting(count);
        for (std::size_t i = 0; i + 1 < majority(count); ++i) {
            EXPECT_EQ(machine.step(contend::notified{node(i)}, at(1s), no_jitter),
                      sleep_until(at(1s + 1ms)));
            EXPECT_EQ(machine.step(contend::notified{node(i)}, at(1s), no_jitter),
                      sleep_until(at(1s + 1ms)));
        }
        EXPECT_EQ(machine.step(contend::notified{node(count - 1)}, at(1s), no_jitter), attempt);
    }
}

TEST(contend, attempts_soon_after_the_first_word_if_no_other_follows) {
    auto machine = waiting(3);
    EXPECT_EQ(machine.step(contend::notified{node(0)}, at(1100ms), 999'999),
              sleep_until(at(1102ms - 1ns)));
    EXPECT_EQ(machine.step(contend::notified{node(0)}, at(1101ms), 999'999),
              sleep_until(at(1102ms - 1ns)));
    EXPECT_EQ(machine.step(contend::tick{}, at(1102ms - 2ns), no_jitter),
              sleep_until(at(1102ms - 1ns)));
    EXPECT_EQ(machine.step(contend::tick{}, at(1102ms - 1ns), no_jitter), attempt);
}

TEST(contend, is_not_delayed_by_a_word_that_comes_just_before_it_would_have_woken) {
    auto machine = waiting(3);
    EXPECT_EQ(machine.step(contend::notified{node(0)}, at(2s), no_jitter),
              sleep_until(at(2s + 1ms)));
    EXPECT_EQ(machine.step(contend::notified{node(0)}, at(2s + 500us), no_jitter),
              sleep_until(at(2s + 1ms)));
}

TEST(contend, attempts_when_its_turn_comes_while_it_waits) {
    EXPECT_EQ(waiting(3).step(contend::turn{}, at(1s), no_jitter), attempt);
    EXPECT_EQ(waiting(3, split_vote).step(contend::turn{}, at(1s), no_jitter), attempt);
}

TEST(contend, attempts_when_it_has_waited_long_enough_and_not_before) {
    auto machine = waiting();
    const auto wake = at(2s + 1ms);
    EXPECT_EQ(machine.step(contend::tick{}, wake - 1ns, no_jitter), sleep_until(wake));
    EXPECT_EQ(machine.step(contend::tick{}, wake, no_jitter), attempt);
}

TEST(contend, never_sleeps_beyond_its_own_limit) {
    auto settings = config_for(3);
    settings.give_up_at = at(1500ms);
    auto machine = attempting(settings);
    EXPECT_EQ(machine.step(attempted{verdict::contended, tracked_for_a_second}, at(1s), no_jitter),
              sleep_until(at(1500ms)));
    EXPECT_EQ(machine.step(contend::tick{}, at(1500ms), no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::contended);
}

TEST(contend, waits_for_ever_if_the_caller_does) {
    auto settings = config_for(3);
    settings.give_up_at = never;
    contend machine{settings};
    EXPECT_EQ(machine.step(contend::turn{.others = {.known = true}}, at(0s), no_jitter),
              (decision{.what = action::attempt, .wake_at = never, .listens = true}));
    EXPECT_EQ(machine.step(attempted{verdict::contended, tracked_for_ever}, at(0s), no_jitter),
              sleep_until(at(5s)));
    EXPECT_EQ(machine.step(contend::tick{}, at(24h), no_jitter).what, action::attempt);
}

// Done.

TEST(contend, ignores_everything_once_done) {
    auto machine = attempting(3);
    machine.step(contend::cancelled{}, at(1s), no_jitter);
    EXPECT_EQ(machine.step(contend::turn{}, at(1s), no_jitter), ignored);
    EXPECT_EQ(machine.step(attempted{verdict::held}, at(1s), no_jitter), ignored);
    EXPECT_EQ(machine.step(contend::notified{node(0)}, at(1s), no_jitter), ignored);
    EXPECT_EQ(machine.step(contend::tick{}, limit, no_jitter), ignored);
    EXPECT_EQ(machine.step(contend::cancelled{}, at(1s), no_jitter), ignored);
    EXPECT_EQ(machine.current(), state::done);
    EXPECT_EQ(machine.outcome(), verdict::cancelled);
}

TEST(contend, asserts_that_only_what_was_attempted_ends) {
    auto not_started = idle();
    EXPECT_ASSERTED(not_started.step(attempted{verdict::contended}, at(1s), no_jitter));
    auto asleep = waiting();
    EXPECT_ASSERTED(asleep.step(attempted{verdict::contended}, at(1s), no_jitter));
    auto running = attempting();
    EXPECT_ASSERTED(running.step(attempted{verdict::none}, at(1s), no_jitter));
}

// A driver that ticks when asked to. It must never be left without a next wake-up before the
// limit, attempt twice at a time, or outlive the limit.
TEST(contend, always_comes_to_an_end_by_its_limit) {
    EXPECT_TRUE(rc::check([] {
        const auto count = *rc::gen::element<std::size_t>(1, 3, 5);
        auto settings = config_for(count);
        settings.give_up_at = at(20s);
        contend machine{settings};
        auto now = at(0s);
        auto next = machine.step(contend::turn{}, now, no_jitter);
        int attempts = 1;
        while (machine.current() != state::done) {
            RC_ASSERT(now < settings.give_up_at);
            RC_ASSERT(next.wake_at <= settings.give_up_at);
            const auto chance = *rc::gen::arbitrary<std::uint64_t>();
            const bool running = machine.current() == state::attempting;
            const auto kind = *rc::gen::inRange(0, running ? 4 : 3);
            if (kind == 0) {
                now = std::max(now, next.wake_at);
                next = machine.step(contend::tick{}, now, chance);
            } else if (kind == 1) {
                now += 1ms * *rc::gen::inRange(0, 100);
                next = machine.step(contend::notified{node(chance % count)}, now, chance);
            } else if (kind == 2) {
                next = machine.step(contend::tick{}, now, chance);
            } else {
                now += 1ms * *rc::gen::inRange(1, 1000);
                const auto how = *rc::gen::element(verdict::contended, verdict::unreachable);
                const denial_summary other{.remaining = 1ms * *rc::gen::inRange(-1, 30'000),
                                           .tracked = *rc::gen::arbitrary<bool>(),
                                           .split = count > 1 && *rc::gen::arbitrary<bool>(),
                                           .place = *rc::gen::inRange<std::size_t>(0, 3),
                                           .called = *rc::gen::arbitrary<bool>()};
                next = machine.step(attempted{how, other}, now, chance);
            }
            if (next.what == action::attempt) {
                RC_ASSERT(!running || kind == 3);
                ++attempts;
            }
            if (now >= settings.give_up_at) break;
        }
        machine.step(contend::tick{}, settings.give_up_at, no_jitter);
        RC_ASSERT(machine.current() == state::done);
        RC_ASSERT(attempts < 10'000);
    }));
}

}  // namespace
}  // namespace holdfast::core
