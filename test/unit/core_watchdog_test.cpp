#include "core/watchdog.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "unit/core_helpers.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using action = watchdog::action;
using decision = watchdog::decision;
using state = watchdog::state;

// A lease of 12 s with 2 s of guard, asked for at 0 s: believed until 10 s, announced at 9 s.
constexpr timing lease_timing{.ttl = 12s, .guard_time = 2s};
constexpr auto deadline = at(10s);
constexpr auto notice = at(9s);

constexpr watchdog::config standard{
    .timing = lease_timing, .renew_every = 4s, .retry_every = 500ms, .notice = 1s};

constexpr decision asleep{};
constexpr decision lose{.what = action::lose};
constexpr decision announce{.what = action::announce, .wake_at = deadline};
constexpr decision renewal{.what = action::renew, .ttl = 12s, .wake_at = notice};

constexpr decision sleep_until(time_point when) { return {.wake_at = when}; }

watchdog held(const watchdog::config& settings = standard) { return {settings, at(0s), deadline}; }

watchdog announced() {
    auto lease = held();
    lease.due(notice);
    return lease;
}

watchdog lost() {
    auto lease = held();
    lease.due(deadline);
    return lease;
}

/// One renewal of a lease on a single node, sent and answered then, and how it went.
renew attempt(time_point sent, std::optional<renew::event> answer, time_point answered,
              time_point old_deadline = deadline, duration ttl = 12s) {
    renew machine{{.nodes = 1,
                   .timing = {.ttl = ttl, .guard_time = lease_timing.guard_time},
                   .old_deadline = old_deadline}};
    machine.start(sent);
    if (answer) machine.step(*answer, answered);
    return machine;
}
renew extended(time_point sent, time_point answered, time_point old_deadline = deadline) {
    return attempt(sent, renew::extended{node(0)}, answered, old_deadline);
}
renew unconfirmed(time_point sent, time_point answered) {
    return attempt(sent, renew::unknown{node(0)}, answered);
}
renew disowned(time_point sent, time_point answered) {
    return attempt(sent, renew::disowned{node(0)}, answered);
}

TEST(watchdog, loses_what_somebody_found_gone_once) {
    auto kept = held();
    EXPECT_EQ(kept.found_gone().what, action::lose);
    EXPECT_EQ(kept.current(), watchdog::state::lost);
    EXPECT_EQ(kept.found_gone().what, action::none);
}

TEST(watchdog, begins_renewals_with_a_step_of_the_clock_but_never_after_the_notice) {
    watchdog lease{standard, at(1ms), deadline};  // a step is 4 ms
    EXPECT_EQ(lease.due(at(2ms)), sleep_until(at(4s + 4ms)));
    EXPECT_EQ(held().due(at(2ms)), sleep_until(at(4s))) << "it falls on one";
    auto late = standard;
    late.renew_every = 9s - 2ms;
    watchdog almost{late, at(1ms), deadline};
    EXPECT_EQ(almost.due(at(2ms)), sleep_until(notice));
}

TEST(watchdog, sleeps_until_the_first_renewal) {
    auto lease = held();
    EXPECT_EQ(lease.due(at(0s)), sleep_until(at(4s)));
    EXPECT_EQ(lease.due(at(4s) - 1ns), sleep_until(at(4s)));
    EXPECT_EQ(lease.current(), state::held);
    EXPECT_EQ(lease.valid_until(), deadline);
}

TEST(watchdog, renews_when_it_is_time_and_only_once_at_a_time) {
    auto lease = held();
    EXPECT_EQ(lease.due(at(4s)), renewal);
    EXPECT_EQ(lease.due(at(4s)), sleep_until(notice));
    EXPECT_EQ(lease.due(at(8s)), sleep_until(notice));
}

TEST(watchdog, counts_the_next_renewal_from_when_the_last_was_sent) {
    auto lease = held();
    lease.due(at(4s));
    EXPECT_EQ(lease.renewed(extended(at(4s), at(5s)), at(5s)), sleep_until(at(8s)));
    EXPECT_EQ(lease.valid_until(), at(14s));
    EXPECT_EQ(lease.due(at(8s)), (decision{.what = action::renew, .ttl = 12s, .wake_at = at(13s)}));
}

// Its own renewal, and what its holder asked for meanwhile: the servers keep the longer one.
TEST(watchdog, believes_the_longer_of_two_renewals_that_were_under_way_together) {
    auto lease = held();
    lease.due(at(4s));
    const auto longer = extended(at(4s), at(4100ms));
    const auto shorter = attempt(at(4s), renew::extended{node(0)}, at(4200ms), deadline, 9s);
    EXPECT_EQ(shorter.valid_until(), at(11s));
    lease.renewed(longer, at(4100ms));
    lease.renewed(shorter, at(4200ms));
    EXPECT_EQ(lease.valid_until(), at(14s));
}

TEST(watchdog, renews_again_at_once_if_the_last_one_took_too_long) {
    auto lease = held();
    lease.due(at(4s));
    EXPECT_EQ(lease.renewed(extended(at(4s), at(8500ms)), at(8500ms)),
              (decision{.what = action::renew, .ttl = 12s, .wake_at = at(13s)}));
}

TEST(watchdog, retries_soon_after_a_renewal_that_was_not_confirmed) {
    auto lease = held();
    lease.due(at(4s));
    EXPECT_EQ(lease.renewed(unconfirmed(at(4s), at(5s)), at(5s)), sleep_until(at(5500ms)));
    EXPECT_EQ(lease.valid_until(), deadline);
    EXPECT_EQ(lease.due(at(5500ms) - 1ns), sleep_until(at(5500ms)));
    EXPECT_EQ(lease.due(at(5500ms)), renewal);
}

TEST(watchdog, retries_soon_after_a_renewal_that_could_not_be_begun) {
    auto lease = held();
    EXPECT_EQ(lease.due(at(4s)), renewal);
    EXPECT_EQ(lease.not_renewed(at(4s)), sleep_until(at(4500ms)));
    EXPECT_EQ(lease.due(at(4500ms)), renewal);
    auto gone = lost();
    EXPECT_EQ(gone.not_renewed(deadline), asleep);
}

TEST(watchdog, wakes_for_the_notice_if_the_retry_would_come_later) {
    auto lease = held();
    lease.due(at(4s));
    EXPECT_EQ(lease.renewed(unconfirmed(at(4s), at(8800ms)), at(8800ms)), sleep_until(notice));
}

TEST(watchdog, announces_at_the_notice_and_not_before) {
    auto lease = held();
    lease.due(at(4s));
    EXPECT_EQ(lease.due(notice - 1ns), sleep_until(notice));
    EXPECT_EQ(lease.due(notice), announce);
    EXPECT_EQ(lease.current(), state::announced);
}

TEST(watchdog, announces_when_a_renewal_ends_unconfirmed_after_the_notice) {
    auto lease = held();
    lease.due(at(4s));
    EXPECT_EQ(lease.renewed(unconfirmed(at(4s), at(9500ms)), at(9500ms)), announce);
    EXPECT_EQ(lease.current(), state::announced);
}

TEST(watchdog, says_nothing_if_the_renewal_is_confirmed_first) {
    auto lease = held();
    lease.due(at(4s));
    EXPECT_EQ(lease.renewed(extended(at(4s), at(9500ms)), at(9500ms)).what, action::renew);
    EXPECT_EQ(lease.current(), state::held);
}

TEST(watchdog, announces_once_and_then_sleeps_until_the_deadline) {
    auto lease = announced();
    EXPECT_EQ(lease.due(notice), sleep_until(deadline));
    EXPECT_EQ(lease.due(deadline - 1ns), sleep_until(deadline));
    EXPECT_EQ(lease.due(deadline), lose);
    EXPECT_EQ(lease.current(), state::lost);
}

TEST(watchdog, does_not_take_back_an_announcement) {
    auto lease = held();
    lease.due(at(4s));
    EXPECT_EQ(lease.due(notice), announce);
    EXPECT_EQ(lease.renewed(extended(at(4s), at(9500ms)), at(9500ms)), sleep_until(deadline));
    EXPECT_EQ(lease.current(), state::announced);
    EXPECT_EQ(lease.valid_until(), deadline);
}

TEST(watchdog, ignores_an_unconfirmed_renewal_once_announced) {
    auto lease = held();
    lease.due(at(4s));
    lease.due(notice);
    EXPECT_EQ(lease.renewed(unconfirmed(at(4s), at(9500ms)), at(9500ms)), sleep_until(deadline));
    EXPECT_EQ(lease.current(), state::announced);
}

TEST(watchdog, loses_at_once_when_a_renewal_finds_it_gone) {
    auto lease = held();
    lease.due(at(4s));
    EXPECT_EQ(lease.renewed(disowned(at(4s), at(5s)), at(5s)), lose);
    EXPECT_EQ(lease.current(), state::lost);
}

TEST(watchdog, loses_at_once_when_a_renewal_finds_it_gone_after_the_announcement) {
    auto lease = held();
    lease.due(at(4s));
    lease.due(notice);
    EXPECT_EQ(lease.renewed(disowned(at(4s), at(9500ms)), at(9500ms)), lose);
    EXPECT_EQ(lease.current(), state::lost);
}

TEST(watchdog, loses_when_the_renewal_came_too_late_to_count) {
    auto lease = held();
    lease.due(at(4s));
    EXPECT_EQ(lease.renewed(extended(at(4s), deadline), deadline), lose);
}

TEST(watchdog, believes_a_renewal_that_was_decided_in_time_though_it_hears_of_it_late) {
    auto lease = held();
    lease.due(at(4s));
    EXPECT_EQ(lease.renewed(extended(at(4s), at(9s)), at(11s)),
              (decision{.what = action::renew, .ttl = 12s, .wake_at = at(13s)}));
    EXPECT_EQ(lease.valid_until(), at(14s));
}

TEST(watchdog, goes_straight_to_lost_when_it_wakes_far_too_late) {
    auto idle = held();
    EXPECT_EQ(idle.due(at(1h)), lose);
    EXPECT_EQ(idle.current(), state::lost);
    auto renewing = held();
    renewing.due(at(4s));
    EXPECT_EQ(renewing.due(at(1h)), lose);
    EXPECT_EQ(announced().due(at(1h)), lose);
}

TEST(watchdog, loses_exactly_at_the_deadline) {
    auto lease = held();
    EXPECT_EQ(lease.due(deadline - 1ns), announce);
    EXPECT_EQ(held().due(deadline), lose);
}

TEST(watchdog, has_nothing_more_to_do_once_lost) {
    auto lease = lost();
    EXPECT_EQ(lease.due(at(0s)), asleep);
    EXPECT_EQ(lease.due(at(1h)), asleep);
    EXPECT_EQ(lease.renewed(extended(at(4s), at(5s)), at(5s)), asleep);
    EXPECT_EQ(lease.renewed(unconfirmed(at(4s), at(5s)), at(5s)), asleep);
    EXPECT_EQ(lease.renewed(disowned(at(4s), at(5s)), at(5s)), asleep);
    EXPECT_EQ(lease.current(), state::lost);
    EXPECT_EQ(lease.valid_until(), deadline);
}

TEST(watchdog, has_nothing_more_to_do_once_closed) {
    for (auto lease : {held(), announced(), lost()}) {
        lease.close();
        EXPECT_EQ(lease.current(), state::closed);
        EXPECT_EQ(lease.due(at(4s)), asleep);
        EXPECT_EQ(lease.due(notice), asleep);
        EXPECT_EQ(lease.due(at(1h)), asleep);
        EXPECT_EQ(lease.renewed(extended(at(4s), at(5s)), at(5s)), asleep);
        EXPECT_EQ(lease.renewed(unconfirmed(at(4s), at(5s)), at(5s)), asleep);
        EXPECT_EQ(lease.renewed(disowned(at(4s), at(5s)), at(5s)), asleep);
        EXPECT_EQ(lease.current(), state::closed);
    }
}

TEST(watchdog, announces_and_loses_a_fixed_lease_without_ever_renewing_it) {
    auto settings = standard;
    settings.renewing = false;
    auto lease = held(settings);
    EXPECT_EQ(lease.due(at(4s)), sleep_until(notice));
    EXPECT_EQ(lease.due(notice), announce);
    EXPECT_EQ(lease.due(deadline), lose);
}

TEST(watchdog, announces_at_once_where_the_notice_is_longer_than_the_lease) {
    auto settings = standard;
    settings.notice = 1h;
    auto lease = held(settings);
    EXPECT_EQ(lease.due(at(0s)), announce);
}

watchdog::config held_until(time_point end) {
    auto settings = standard;
    settings.hold_until = end;
    return settings;
}

TEST(watchdog, believes_in_nothing_beyond_the_longest_hold) {
    auto lease = held(held_until(at(6s)));
    EXPECT_EQ(lease.valid_until(), at(6s));
    EXPECT_EQ(lease.due(at(4s)), sleep_until(at(5s)));
    EXPECT_EQ(lease.due(at(5s)), (decision{.what = action::announce, .wake_at = at(6s)}));
    EXPECT_EQ(lease.due(at(6s)), lose);
}

TEST(watchdog, does_not_renew_what_reaches_the_longest_hold_already) {
    auto lease = held(held_until(deadline));
    EXPECT_EQ(lease.due(at(4s)), sleep_until(notice));
    auto one_more = held(held_until(deadline + 1ns));
    EXPECT_EQ(one_more.due(at(4s)).what, action::renew);
}

TEST(watchdog, asks_for_no_more_than_the_longest_hold_and_its_guard) {
    auto far = held(held_until(at(14s)));
    EXPECT_EQ(far.due(at(4s)), renewal);
    auto near = held(held_until(at(14s) - 1ns));
    EXPECT_EQ(near.due(at(4s)),
              (decision{.what = action::renew, .ttl = 12s - 1ns, .wake_at = notice}));
    auto nearer = held(held_until(at(11s)));
    EXPECT_EQ(nearer.due(at(4s)), (decision{.what = action::renew, .ttl = 9s, .wake_at = notice}));
}

TEST(watchdog, reaches_exactly_the_longest_hold_with_its_last_renewal) {
    auto lease = held(held_until(at(11s)));
    const auto asked = lease.due(at(4s));
    const auto last = attempt(at(4s), renew::extended{node(0)}, at(5s), deadline, asked.ttl);
    EXPECT_EQ(lease.renewed(last, at(5s)), sleep_until(at(10s)));
    EXPECT_EQ(lease.valid_until(), at(11s));
    EXPECT_EQ(lease.due(at(10s)), (decision{.what = action::announce, .wake_at = at(11s)}));
    EXPECT_EQ(lease.due(at(11s)), lose);
}

TEST(watchdog, trims_a_renewal_that_reaches_beyond_the_longest_hold) {
    auto lease = held(held_until(at(11s)));
    lease.due(at(4s));
    lease.renewed(extended(at(4s), at(5s)), at(5s));
    EXPECT_EQ(lease.valid_until(), at(11s));
}

// Whatever happens, a user who watches the stop token is told before the deadline that stands, or
// at the first chance after it; and nobody ever renews after being told.
TEST(watchdog, keeps_its_promises_whatever_happens_when) {
    EXPECT_TRUE(rc::check([] {
        auto settings = standard;
        if (*rc::gen::arbitrary<bool>()) {
            settings.hold_until = at(std::chrono::seconds{*rc::gen::inRange(1, 60)});
        }
        watchdog lease{settings, at(0s), deadline};
        auto now = at(0s);
        auto next = lease.due(now);
        bool announced = false;
        std::optional<time_point> sent;
        for (int i = 0; i < 60 && lease.current() != state::lost; ++i) {
            const auto believed = lease.valid_until();
            if (next.what == action::renew) {
                RC_ASSERT(!announced);
                RC_ASSERT(!sent);
                RC_ASSERT(next.ttl > 0ns);
                RC_ASSERT(next.ttl <= lease_timing.ttl);
                sent = now;
            }
            announced |= next.what == action::announce;
            RC_ASSERT(next.wake_at > now);
            RC_ASSERT(next.wake_at <= believed);
            const bool on_time = *rc::gen::arbitrary<bool>();
            now = on_time ? next.wake_at : now + 1ms * *rc::gen::inRange(1, 3000);
            if (sent && *rc::gen::arbitrary<bool>()) {
                const auto kind = *rc::gen::weightedElement<int>({{6, 0}, {3, 1}, {1, 2}});
                const auto how = kind == 0   ? extended(*sent, now, believed)
                                 : kind == 1 ? unconfirmed(*sent, now)
                                             : disowned(*sent, now);
                sent.reset();
                next = lease.renewed(how, now);
            } else {
                next = lease.due(now);
            }
            RC_ASSERT(lease.valid_until() <= settings.hold_until);
            RC_ASSERT(lease.valid_until() >= believed);
            RC_ASSERT(now < lease.valid_until() || lease.current() == state::lost);
            RC_ASSERT(!announced || lease.valid_until() == believed);
        }
    }));
}

}  // namespace
}  // namespace holdfast::core
