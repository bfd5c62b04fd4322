#include <gtest/gtest.h>

#include "unit/core_contend_helpers.hpp"

// Votes that nobody has a majority of.
namespace holdfast::core {
namespace {

TEST(contend, steps_back_for_longer_and_longer_after_split_votes) {
    auto machine = attempting(3);
    for (const auto delay : {1ms, 2ms, 4ms, 8ms}) {
        EXPECT_EQ(machine.step(attempted{verdict::contended, split_vote}, at(1s), no_jitter),
                  sleep_until(at(1s + delay)));
        EXPECT_EQ(machine.step(contend::tick{}, at(1s + delay), no_jitter), attempt);
    }
}

TEST(contend, is_not_hastened_by_rivals_that_step_back_from_a_split_vote) {
    auto machine = attempting(3);
    machine.step(contend::notified{node(0)}, at(1s), no_jitter);
    machine.step(contend::notified{node(1)}, at(1s), no_jitter);
    const auto wake = at(1s + 2ms - 1ns);
    EXPECT_EQ(machine.step(attempted{verdict::contended, split_vote}, at(1s), 999'999),
              sleep_until(wake));
    EXPECT_EQ(machine.step(contend::notified{node(0)}, at(1s), no_jitter), sleep_until(wake));
    EXPECT_EQ(machine.step(contend::notified{node(2)}, at(1s), no_jitter), sleep_until(wake));
    EXPECT_EQ(machine.step(contend::tick{}, wake, no_jitter), attempt);
}

TEST(contend, can_be_told_again_once_somebody_holds_after_a_split_vote) {
    auto machine = waiting(3, split_vote);
    machine.step(contend::tick{}, at(1s + 1ms), no_jitter);
    machine.step(attempted{verdict::contended, tracked_for_a_second}, at(2s), no_jitter);
    machine.step(contend::notified{node(0)}, at(2s), no_jitter);
    EXPECT_EQ(machine.step(contend::notified{node(1)}, at(2s), no_jitter), attempt);
}

TEST(contend, parts_from_rivals_that_are_told_at_the_same_moment_once_the_vote_was_split) {
    auto machine = waiting(3, split_vote);
    machine.step(contend::tick{}, at(2s), no_jitter);
    machine.step(attempted{verdict::contended, split_vote}, at(2s), no_jitter);
    machine.step(contend::tick{}, at(3s), no_jitter);
    machine.step(attempted{verdict::contended, tracked_for_a_second}, at(3s), no_jitter);
    machine.step(contend::notified{node(0)}, at(3s), no_jitter);
    const auto wake = at(3s + 3500us - 1ns);
    EXPECT_EQ(machine.step(contend::notified{node(1)}, at(3s), 3'499'999), sleep_until(wake));
    EXPECT_EQ(machine.step(contend::notified{node(2)}, at(3s), no_jitter), sleep_until(wake));
    EXPECT_EQ(machine.step(contend::tick{}, wake, no_jitter), attempt);
}

TEST(contend, takes_no_notice_of_a_minority_once_the_vote_was_split) {
    auto machine = waiting(3, split_vote);
    machine.step(contend::tick{}, at(2s), no_jitter);
    machine.step(attempted{verdict::contended, split_vote}, at(2s), no_jitter);
    machine.step(contend::tick{}, at(3s), no_jitter);
    machine.step(attempted{verdict::contended, tracked_for_a_second}, at(3s), no_jitter);
    EXPECT_EQ(machine.step(contend::notified{node(0)}, at(3s), no_jitter),
              sleep_until(at(4s + 1ms)));
}

TEST(contend, steps_back_for_no_longer_than_parts_a_crowd) {
    auto machine = attempting(3);
    for (int i = 0; i < 12; ++i) {
        machine.step(attempted{verdict::contended, split_vote}, at(1s), no_jitter);
        machine.step(contend::tick{}, at(2s), no_jitter);
    }
    EXPECT_EQ(machine.step(attempted{verdict::contended, split_vote}, at(2s), no_jitter),
              sleep_until(at(2s + 64ms)));
}

TEST(contend, remembers_for_the_next_caller_whom_it_met_and_half_of_how_far_it_had_to_part) {
    auto alone = attempting(3);
    alone.step(attempted{verdict::held}, at(1s), no_jitter);
    EXPECT_EQ(alone.met(), contention{});
    auto met_others = waiting(3, split_vote);
    met_others.step(contend::tick{}, at(2s), no_jitter);
    met_others.step(attempted{verdict::held}, at(2s), no_jitter);
    EXPECT_EQ(met_others.met(), (contention{.known = true, .spread = 1ms}));
    auto next = idle(3);
    EXPECT_EQ(next.step(contend::turn{.others = met_others.met()}, at(3s), no_jitter), attempt)
        << "and asks to be told at once";
}

TEST(contend, can_be_told_again_after_an_outage_that_followed_a_split_vote) {
    auto machine = waiting(3, split_vote);
    machine.step(contend::tick{}, at(1s + 1ms), no_jitter);
    machine.step(attempted{verdict::unreachable}, at(2s), no_jitter);
    machine.step(contend::notified{node(0)}, at(2s), no_jitter);
    EXPECT_EQ(machine.step(contend::notified{node(1)}, at(2s), no_jitter), attempt);
}

}  // namespace
}  // namespace holdfast::core
