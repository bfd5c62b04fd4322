#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

/// How a server reads the words of a command.
namespace holdfast::sim {

/// The letters of a word, in capitals, as one number: so that a word is read once and then compared
/// with many. Five bits each leave room for twelve. 0: it is none of ours.
constexpr std::uint64_t letters(std::string_view word) {
    constexpr std::size_t longest = 12;
    if (word.size() > longest) return 0;
    std::uint64_t all = 0;
    for (const char c : word) {
        const char capital = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        if (capital < 'A' || capital > 'Z') return 0;
        all = all << 5U | static_cast<std::uint64_t>(capital - 'A' + 1);
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
