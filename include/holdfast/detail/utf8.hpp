#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

/// Text from elsewhere: which of its bytes may be shown to people. Shared by the library, which
/// writes labels into owner tokens, and the command, which shows them.
namespace holdfast::detail {

/// The length of the well-formed UTF-8 sequence at the start of `text`; 0: there is none.
constexpr std::size_t utf8_length(std::string_view text) {
    struct form {
        unsigned char first_low, first_high, second_low, second_high;
        std::size_t length;
    };
    // The table of well-formed byte sequences of the Unicode standard.
    constexpr std::array<form, 9> forms{{{0x00, 0x7f, 0, 0, 1},
                                         {0xc2, 0xdf, 0x80, 0xbf, 2},
                                         {0xe0, 0xe0, 0xa0, 0xbf, 3},
                                         {0xe1, 0xec, 0x80, 0xbf, 3},
                                         {0xed, 0xed, 0x80, 0x9f, 3},
                                         {0xee, 0xef, 0x80, 0xbf, 3},
                                         {0xf0, 0xf0, 0x90, 0xbf, 4},
                                         {0xf1, 0xf3, 0x80, 0xbf, 4},
                                         {0xf4, 0xf4, 0x80, 0x8f, 4}}};
    if (text.empty()) return 0;
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
    for (const form& candidate : forms) {
        if (byte(0) < candidate.first_low || byte(0) > candidate.first_high) continue;
        if (text.size() < candidate.length) return 0;
        for (std::size_t n = 1; n < candidate.length; ++n) {
            const unsigned char low = n == 1 ? candidate.second_low : 0x80;
            const unsigned char high = n == 1 ? candidate.second_high : 0xbf;
            if (byte(n) < low || byte(n) > high) return 0;
        }
        return candidate.length;
    }
    return 0;
}

/// The code point of the sequence at the start. REQUIRES: utf8_length(text) is not 0.
constexpr char32_t code_point(std::string_view text) {
    const auto length = utf8_length(text);
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
    char32_t point = length == 1 ? byte(0) : byte(0) & (0xffU >> (length + 1));
    for (std::size_t n = 1; n < length; ++n) point = point << 6U | (byte(n) & 0x3fU);
    return point;
}

/// What a terminal obeys instead of showing it (C0, DEL, C1), what ends a line, and what turns the
/// text around that follows it.
constexpr bool is_control(char32_t point) {
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c || point == 0x200e ||
           point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069);
}

/// The length of the character at the start if it is one that can be shown; 0: the first byte is a
/// control, begins one, or is not UTF-8. A terminal that knows no UTF-8 takes the bytes 80 to 9f
/// for C1 controls.
constexpr std::size_t printable_length(std::string_view text) {
    const auto length = utf8_length(text);
    return length == 0 || is_control(code_point(text)) ? 0 : length;
}

/// The text as it can be shown: every other byte as `\x1b`.
inline std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string safe;
    while (!text.empty()) {
        const std::size_t length = printable_length(text);
        if (length > 0) {
            safe.append(text.substr(0, length));
        } else {
            const auto byte = static_cast<unsigned char>(text.front());
            safe.append("\\x").append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
        }
        text.remove_prefix(length > 0 ? length : 1);
    }
    return safe;
}

}  // namespace holdfast::detail
