#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

/// How a server reads the words of a command.
namespace holdfast::sim {

/// The letters of a short word, in capitals, as one number: so that a word is read once and then
/// compared with many. 0: it is none of ours.
constexpr std::uint64_t letters(std::string_view word) {
    if (word.size() > sizeof(std::uint64_t)) return 0;
    std::uint64_t all = 0;
    for (const char c : word) {
        const auto capital = static_cast<unsigned char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        if (capital < 'A' || capital > 'Z') return 0;
        all = all << 8U | capital;
    }
    return all;
}

/// Strict as the server is: no sign but '-', no leading zero, no space.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    const auto digits = text.substr(text.front() == '-' ? 1 : 0);
    const bool padded = digits.front() == '0' && text != "0";
    return padded ? std::nullopt : std::optional{number};
}

}  // namespace holdfast::sim
