#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

/// What the framer and the view both know of RESP: which layout a type byte announces, and how the
/// numbers on a line are spelled. One place, so that what one accepts the other can read.
namespace holdfast::resp {

/// How a value is laid out behind its type byte.
enum class layout : std::uint8_t {
    line,       // text up to CRLF
    bulk,       // length, CRLF, that many bytes, CRLF
    aggregate,  // count, CRLF, that many values (or pairs of values)
    unknown
};

constexpr layout layout_of(char type) {
    switch (type) {
        case '+':
        case '-':
        case ':':
        case '_':
        case ',':
        case '#':
        case '(': return layout::line;
        case '$':
        case '!':
        case '=': return layout::bulk;
        case '*':
        case '~':
        case '>':
        case '%':
        case '|': return layout::aggregate;
        default: return layout::unknown;
    }
}

/// RESP2 spells "no value" as a bulk string or an array of length -1; no other type may.
constexpr bool is_null_header(char type, std::string_view line) {
    return (type == '$' || type == '*') && line == "-1";
}

constexpr std::size_t values_per_entry(char type) { return type == '%' || type == '|' ? 2 : 1; }

/// Verbatim strings begin with three letters of format and a colon: `txt:`.
inline constexpr std::size_t verbatim_prefix = 4;

/// Reads all of `digits`, or nothing.
template <class Number>
std::optional<Number> parse_whole(std::string_view digits) {
    Number number{};
    const char* end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, number);
    if (failure != std::errc{} || stop != end) return std::nullopt;
    return number;
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Drops the plus sign that RESP allows and std::from_chars does not. "+-1" stays, and fails.
constexpr std::string_view without_plus(std::string_view digits) {
    if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
    return digits;
}

/// Lengths and counts: plain digits in their shortest spelling.
inline std::optional<std::size_t> parse_length(std::string_view digits) {
    if (digits.size() > 1 && digits[0] == '0') return std::nullopt;
    return parse_whole<std::size_t>(digits);
}

inline std::optional<std::int64_t> parse_integer(std::string_view digits) {
    return parse_whole<std::int64_t>(without_plus(digits));
}

/// A decimal or scientific number, `inf` or `nan`; not the other spellings std::from_chars knows.
inline std::optional<double> parse_number(std::string_view text) {
    text = without_plus(text);
    const std::string_view magnitude = text.substr(text.starts_with('-') ? 1 : 0);
    const bool is_word = magnitude == "inf" || magnitude == "nan";
    if (!is_word && (magnitude.empty() || !is_digit(magnitude[0]))) return std::nullopt;
    return parse_whole<double>(text);
}

/// An integer of any size: an optional sign and at least one digit.
constexpr bool is_big_number(std::string_view text) {
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    for (const char c : text) {
        if (!is_digit(c)) return false;
    }
    return !text.empty();
}

}  // namespace holdfast::resp
