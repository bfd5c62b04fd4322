#pragma once

#include <cstdint>
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

}  // namespace holdfast::detail
