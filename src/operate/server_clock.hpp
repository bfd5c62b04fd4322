#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "resp/view.hpp"

namespace holdfast::detail {

/// What TIME answered, in microseconds; 0: it would not say, or nothing that a clock can hold.
inline std::int64_t micros_of(std::string_view reply) {
    constexpr std::int64_t latest = 9'000'000'000;  // the year 2255
    const auto first = resp::view(reply).at(0);
    const auto second = resp::view(reply).at(1);
    if (!first || !second) return 0;
    const auto seconds = first->as_integer().value_or(0);
    const auto micros = second->as_integer().value_or(0);
    if (seconds < 0 || seconds >= latest || micros < 0 || micros >= 1'000'000) return 0;
    return seconds * 1'000'000 + micros;
}

/// By how much its wall clock leads ours, by what TIME answered just now; nullopt as of micros_of.
inline std::optional<std::chrono::milliseconds> clock_difference(std::string_view reply) {
    const std::chrono::microseconds there(micros_of(reply));
    if (there.count() == 0) return std::nullopt;
    const auto here = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(there - here);
}

}  // namespace holdfast::detail
