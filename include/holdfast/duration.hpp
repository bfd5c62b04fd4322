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
/// The result is exact, or nullopt: signs, spaces, exponents, upper case units, a lone or trailing
/// dot, a fraction finer than a nanosecond, and whatever exceeds 64 bits of nanoseconds (about 292
/// years) have none. Zero is a duration. Throws nothing.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// Writes a duration for people: in the largest unit, up to hours, of which there is at least one
/// and which needs no more than three decimals. `500ms`, `1.5s`, `2m`, `61s`, `48h`, `0s`; negative
/// ones with a `-`.
///
/// Rounded to milliseconds from a second on, to microseconds from a millisecond on, and exact below
/// that. What is exact and not negative is read back by parse_duration as the same duration.
std::string format_duration(std::chrono::nanoseconds duration);

}  // namespace holdfast
