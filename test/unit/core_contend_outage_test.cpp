#include <gtest/gtest.h>

#include "unit/core_contend_helpers.hpp"

// Servers out of reach.
namespace holdfast::core {
namespace {

TEST(contend, tries_again_while_its_patience_with_an_outage_lasts) {
    for (const auto how : {verdict::unreachable, verdict::too_late}) {
        auto machine = attempting(3);
        EXPECT_EQ(machine.step(attempted{how}, at(1s), no_jitter), sleep_until(at(1s + 1ms)));
        machine.step(contend::tick{}, at(1s + 1ms), no_jitter);
        EXPECT_EQ(machine.step(attempted{how}, at(2s), no_jitter), sleep_until(at(2s + 2ms)));
        machine.step(contend::tick{}, at(2s + 2ms), no_jitter);
        EXPECT_EQ(machine.step(attempted{how}, at(11s), no_jitter), finish);
        EXPECT_EQ(machine.outcome(), how);
    }
}

TEST(contend, makes_a_last_attempt_when_its_patience_ends) {
    auto machine = attempting(3);
    machine.step(attempted{verdict::unreachable}, at(1s), no_jitter);
    machine.step(contend::tick{}, at(2s), no_jitter);
    EXPECT_EQ(machine.step(attempted{verdict::unreachable}, at(11s - 1ns), no_jitter),
              sleep_until(at(11s)));
    EXPECT_EQ(machine.step(contend::tick{}, at(11s), no_jitter), attempt);
    EXPECT_EQ(machine.step(attempted{verdict::unreachable}, at(11s), no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::unreachable);
}

TEST(contend, has_no_patience_unless_given_some) {
    auto settings = config_for(3);
    settings.patience = 0s;
    auto machine = attempting(settings);
    EXPECT_EQ(machine.step(attempted{verdict::unreachable}, at(1s), no_jitter), finish);
}

TEST(contend, can_have_endless_patience) {
    auto settings = config_for(3);
    settings.patience = duration::max();
    auto machine = attempting(settings);
    EXPECT_EQ(machine.step(attempted{verdict::unreachable}, at(1s), no_jitter),
              sleep_until(at(1s + 1ms)));
}

TEST(contend, counts_its_patience_from_when_those_before_it_reached_no_majority) {
    auto machine = idle();
    EXPECT_EQ(machine.step(contend::turn{.out_since = at(1s)}, at(9s), no_jitter), quiet_attempt);
    EXPECT_EQ(machine.step(attempted{verdict::unreachable}, at(10s), no_jitter),
              sleep_until(at(10s + 1ms)));
    machine.step(contend::tick{}, at(10s + 1ms), no_jitter);
    EXPECT_EQ(machine.step(attempted{verdict::unreachable}, at(11s), no_jitter), finish);
}

TEST(contend, regains_its_patience_when_a_majority_answers) {
    auto machine = attempting(3);
    machine.step(attempted{verdict::unreachable}, at(1s), no_jitter);
    machine.step(contend::tick{}, at(2s), no_jitter);
    machine.step(attempted{verdict::contended, tracked_for_a_second}, at(3s), no_jitter);
    machine.step(contend::turn{}, at(11s), no_jitter);
    EXPECT_EQ(machine.step(attempted{verdict::unreachable}, at(20s), no_jitter).what, action::none);
    machine.step(contend::tick{}, at(29s), no_jitter);
    EXPECT_EQ(machine.step(attempted{verdict::unreachable}, at(30s - 1ns), no_jitter),
              sleep_until(at(30s)));
}

TEST(contend, reports_what_the_last_attempt_met_when_it_gives_up) {
    auto machine = attempting(3);
    machine.step(attempted{verdict::unreachable}, at(1s), no_jitter);
    EXPECT_EQ(machine.step(contend::tick{}, limit, no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::unreachable);
}

TEST(contend, does_not_repeat_what_is_hopeless) {
    auto machine = attempting(3);
    EXPECT_EQ(
        machine.step(attempted{.how = verdict::unreachable, .hopeless = true}, at(1s), no_jitter),
        finish);
    EXPECT_EQ(machine.outcome(), verdict::unreachable);
}

TEST(contend, asks_a_server_that_was_emptied_meanwhile_once_more_even_if_it_does_not_wait) {
    auto settings = config_for(1);
    settings.waits = false;
    auto machine = attempting(settings);
    const attempted emptied{.how = verdict::unreachable, .emptied = true};
    EXPECT_EQ(machine.step(emptied, at(1s), no_jitter), quiet_attempt);
    EXPECT_EQ(machine.step(emptied, at(2s), no_jitter), finish);
    EXPECT_EQ(machine.outcome(), verdict::unreachable);
}

TEST(contend, asks_a_server_that_was_emptied_no_more_when_its_time_is_over) {
    auto machine = attempting();
    EXPECT_EQ(
        machine.step(attempted{.how = verdict::unreachable, .emptied = true}, limit, no_jitter),
        finish);
}

}  // namespace
}  // namespace holdfast::core
