#pragma once

#include "core/contend.hpp"
#include "unit/core_helpers.hpp"

/// A core::contend in each of its states, and the decisions that it makes.
namespace holdfast::core {

using namespace std::chrono_literals;
using action = contend::action;
using attempted = contend::attempted;
using decision = contend::decision;
using state = contend::state;
using verdict = acquire::verdict;

constexpr std::uint64_t no_jitter = 0;
constexpr auto limit = at(1h);  // the caller's own

constexpr decision attempt{.what = action::attempt, .wake_at = limit, .listens = true};
constexpr decision quiet_attempt{.what = action::attempt, .wake_at = limit};
constexpr decision finish{.what = action::finish};
constexpr decision until_limit{.wake_at = limit};
constexpr decision ignored{};

constexpr denial_summary tracked_for_a_second{.remaining = 1s, .tracked = true};
constexpr denial_summary tracked_for_ever{.tracked = true};
constexpr denial_summary untracked{};
constexpr denial_summary split_vote{.remaining = 1s, .tracked = true, .split = true};

constexpr decision sleep_until(time_point when) { return {.wake_at = when}; }

inline contend::config config_for(std::size_t count) {
    return {.nodes = count, .give_up_at = limit, .patience = 10s};
}

inline contend idle(std::size_t count = 3) { return contend{config_for(count)}; }

/// In an attempt that asks to be told.
inline contend attempting(const contend::config& settings) {
    contend machine{settings};
    machine.step(contend::turn{.others = {.known = true}}, at(0s), no_jitter);
    return machine;
}
inline contend attempting(std::size_t count = 3) { return attempting(config_for(count)); }

/// Denied at 1 s.
inline contend waiting(std::size_t count = 3, denial_summary other = tracked_for_a_second) {
    auto machine = attempting(count);
    machine.step(attempted{verdict::contended, other}, at(1s), no_jitter);
    return machine;
}

}  // namespace holdfast::core
