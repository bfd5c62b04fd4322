#pragma once

#include <chrono>

#include "holdfast/detail/language.hpp"

namespace holdfast {

/// The clock that leases are measured with: CLOCK_BOOTTIME. It never jumps, which T1 assumes, and
/// unlike std::chrono::steady_clock it counts while the machine is suspended. Its time points mean
/// nothing on another machine, or after a reboot.
struct clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<clock, duration>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept;
};

}  // namespace holdfast
