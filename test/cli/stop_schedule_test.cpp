#include "stop_schedule.hpp"

#include <gtest/gtest.h>

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;
using action = stop_schedule::action;
using cause = stop_schedule::cause;

constexpr auto never = stop_schedule::time_point::max();

stop_schedule::time_point at(clock::duration time) { return stop_schedule::time_point(time); }

TEST(stop_schedule, does_nothing_before_the_notice_and_wakes_up_for_it) {
    stop_schedule schedule(5s);
    EXPECT_EQ(schedule.due({at(30s)}, at(1s)), (stop_schedule::decision{action::none, at(25s)}));
    EXPECT_EQ(schedule.why(), cause::none);
}

TEST(stop_schedule, follows_a_deadline_that_moves_on) {
    stop_schedule schedule(5s);
    EXPECT_EQ(schedule.due({at(30s)}, at(24s)).wake_at, at(25s));
    EXPECT_EQ(schedule.due({at(50s)}, at(25s)), (stop_schedule::decision{action::none, at(45s)}));
}

TEST(stop_schedule, asks_at_the_deadline_less_the_grace_and_kills_before_the_deadline) {
    stop_schedule schedule(5s);
    EXPECT_EQ(schedule.due({at(30s)}, at(25s)),
              (stop_schedule::decision{action::terminate, at(29500ms)}));
    EXPECT_EQ(schedule.why(), cause::loss);
    EXPECT_EQ(schedule.due({at(30s)}, at(29s)).what, action::none);
    EXPECT_EQ(schedule.due({at(30s)}, at(29500ms)).what, action::kill);
    EXPECT_EQ(schedule.due({at(30s)}, at(40s)), (stop_schedule::decision{action::none, never}));
}

TEST(stop_schedule, asks_as_soon_as_the_loss_is_announced) {
    stop_schedule schedule(5s);
    EXPECT_EQ(schedule.due({at(30s), true}, at(10s)),
              (stop_schedule::decision{action::terminate, at(15s)}));
}

TEST(stop_schedule, gives_no_grace_when_the_lease_is_gone) {
    stop_schedule announced(5s);
    EXPECT_EQ(announced.due({at(30s), true, true}, at(10s)).what, action::kill);
    stop_schedule overslept(5s);
    EXPECT_EQ(overslept.due({at(30s)}, at(31s)).what, action::kill);
    EXPECT_EQ(overslept.why(), cause::loss);
}

TEST(stop_schedule, kills_when_the_lease_goes_during_the_grace) {
    stop_schedule schedule(5s);
    EXPECT_EQ(schedule.due({at(30s)}, at(25s)).what, action::terminate);
    EXPECT_EQ(schedule.due({at(30s), true, true}, at(26s)).what, action::kill);
}

TEST(stop_schedule, never_leaves_less_than_fifty_milliseconds_for_the_kill) {
    stop_schedule schedule(0s);
    EXPECT_EQ(schedule.due({at(1s)}, at(0s)).wake_at, at(950ms));
    EXPECT_EQ(schedule.due({at(1s)}, at(950ms)).what, action::kill);
}

TEST(stop_schedule, stops_what_takes_too_long_with_the_whole_grace) {
    stop_schedule schedule(5s, at(10s));
    EXPECT_EQ(schedule.due({at(60s)}, at(1s)).wake_at, at(10s));
    EXPECT_EQ(schedule.due({at(60s)}, at(10s)),
              (stop_schedule::decision{action::terminate, at(15s)}));
    EXPECT_EQ(schedule.why(), cause::at_most);
    EXPECT_EQ(schedule.due({at(60s)}, at(15s)).what, action::kill);
    EXPECT_EQ(schedule.why(), cause::at_most);
}

TEST(stop_schedule, stops_at_once_when_somebody_asks_for_it) {
    stop_schedule schedule(5s, at(100s));
    schedule.request();
    EXPECT_EQ(schedule.due({at(60s)}, at(10s)),
              (stop_schedule::decision{action::terminate, at(15s)}));
    EXPECT_EQ(schedule.why(), cause::request);
    schedule.request();
    EXPECT_EQ(schedule.due({at(60s)}, at(11s)).what, action::none) << "it is on its way";
    EXPECT_EQ(schedule.due({at(60s)}, at(15s)).what, action::kill);
}

TEST(stop_schedule, shortens_that_grace_when_the_lease_ends_first) {
    stop_schedule schedule(5s, at(10s));
    EXPECT_EQ(schedule.due({at(16s)}, at(10s)),
              (stop_schedule::decision{action::terminate, at(11s)}));
    EXPECT_EQ(schedule.due({at(14s)}, at(11s)),
              (stop_schedule::decision{action::none, at(13500ms)}));
    EXPECT_EQ(schedule.why(), cause::loss);
    EXPECT_EQ(schedule.due({at(14s)}, at(13500ms)).what, action::kill);
}

}  // namespace
}  // namespace holdfast::tool
