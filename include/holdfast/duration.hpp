#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/detail/language.hpp"

namespace holdfast {

/// Reads a duration the way people write one: `500ms`, `10s`, `5m`, `2h`, `2d`, `1h30m`, `1.5s`.
///
///   duration = number [ unit ]                       without a unit, the number is seconds
///            | 1*( digits unit ) [ number unit ]     the largest unit first, each once
///   number   = digits [ "." digits ]
///   unit     = "us" | "ms" | "s" | "m" | "h" | "d"   a day is 24 hours
///
/// The result is exact, or there is none: signs, spaces, exponents, upper case units, a lone or
/// trailing dot, a fraction finer than a nanosecond and whatever does not fit into 64 bits of
/// nanoseconds (about 292 years) all give nullopt. Zero is a duration; whether it makes sense is
/// the caller's question.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// Writes a duration for people: the largest unit of which there is at least one and which needs
/// no more than three decimals. `500ms`, `1.5s`, `2m`, `61s`, `0s`; negative ones with a `-`.
///
/// From a second on, whole milliseconds are shown exactly, and below it whole microseconds; finer
/// parts are rounded to the nearest of these. What is not negative and shown exactly is read back
/// by parse_duration as the same duration.
std::string format_duration(std::chrono::nanoseconds duration);

}  // namespace holdfast
