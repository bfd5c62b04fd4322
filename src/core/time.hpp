#pragma once

#include <chrono>

namespace holdfast {
struct clock;  // include/holdfast/clock.hpp: CLOCK_BOOTTIME. The core never reads it.
}

/// Time as the machines see it: an argument. The types are those of the public clock, so that
/// nothing has to be converted on the way in or out.
namespace holdfast::core {

using duration = std::chrono::nanoseconds;
using time_point = std::chrono::time_point<clock, duration>;

inline constexpr time_point never = time_point::max();

/// `from + by`, or `never` where that would overflow.
constexpr time_point after(time_point from, duration by) {
    return by >= never - from ? never : from + by;
}

}  // namespace holdfast::core
