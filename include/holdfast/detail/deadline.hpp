#pragma once

#include <chrono>

#include "holdfast/clock.hpp"

/// Until when to wait, on our clock.
namespace holdfast::detail {

/// The time so far from now; a year at most, so that no duration, however long, overflows.
template <typename Rep, typename Period>
clock::time_point from_now(const std::chrono::duration<Rep, Period>& wait) {
    constexpr auto longest = std::chrono::hours(24 * 365);
    if (!(wait > wait.zero())) return clock::now();  // not a number included
    if (wait >= longest) return clock::now() + longest;
    return clock::now() + std::chrono::ceil<clock::duration>(wait);
}

/// Any clock's time point on ours: as far from now there as here. Roughly first: the difference may
/// be more than its type can count.
template <typename Clock, typename Duration>
clock::time_point on_our_clock(const std::chrono::time_point<Clock, Duration>& when) {
    using roughly = std::chrono::duration<double>;
    const auto now = Clock::now();
    const auto left = roughly(when.time_since_epoch()) - roughly(now.time_since_epoch());
    const bool near = std::chrono::abs(left) < std::chrono::hours(1);
    return near ? from_now(when - now) : from_now(left);
}
template <typename Duration>
clock::time_point on_our_clock(const std::chrono::time_point<clock, Duration>& when) {
    return when;
}

}  // namespace holdfast::detail
