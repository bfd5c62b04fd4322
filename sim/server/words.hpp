#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

/// How a server reads the words of a command.
namespace holdfast::sim {

/// The letters of a word, in capitals, as one number: so that a word is read once and then compared
/// with many. Five bits each leave room for twelve; of a longer word it is a hash, with the highest
/// bit, which no shorter one has. 0: it is none of ours.
constexpr std::uint64_t letters(std::string_view word) {
    constexpr std::size_t longest = 12;
    constexpr std::uint64_t of_longer = std::uint64_t{1} << 63U;
    constexpr std::uint64_t prime = 1099511628211U;
    const bool longer = word.size() > longest;
    std::uint64_t all = 0;
    for (const char c : word) {
        const char capital = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        if (capital < 'A' || capital > 'Z') return 0;
        const std::uint64_t letter = static_cast<std::uint8_t>(capital - 'A') + 1U;
        all = longer ? (all ^ letter) * prime : all << 5U | letter;
    }
    return longer ? all | of_longer : all;
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
