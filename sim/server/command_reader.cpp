#include "sim/server/command_reader.hpp"

#include <limits>

#include "sim/server/words.hpp"

namespace holdfast::sim {
namespace {

constexpr std::size_t longest_line = std::size_t{64} * 1024;
constexpr std::int64_t most_words = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t most_words_of_strangers = 10;
constexpr std::int64_t longest_word = std::int64_t{512} << 20U;
constexpr std::int64_t longest_word_of_strangers = 16384;

using kind = reading::kind;

reading malformed(std::string_view error, char unexpected = 0) {
    return {.what = kind::malformed, .error = error, .unexpected = unexpected};
}

// The text of a header line, from behind its type to the carriage return. The server does not look
// at what follows that, as long as there is something.
struct line {
    bool complete = false;
    bool too_long = false;
    std::string_view text{};
};

line line_at(std::string_view bytes, std::size_t at) {
    const auto end = bytes.find('\r', at);
    if (end == bytes.npos) return {.too_long = bytes.size() - at > longest_line};
    if (end + 2 > bytes.size()) return {};
    return {.complete = true, .text = bytes.substr(at, end - at)};
}

// The header of nearly every word that a client sends, read at a glance: a length of up to four
// digits. Returns 0 where it is anything else, or not all there: then it is looked at closely.
std::size_t glance_at_header(std::string_view bytes, std::size_t at, std::size_t& length) {
    constexpr std::size_t most_digits = 4;
    if (bytes.size() < at + most_digits + 3 || bytes[at] != '$') return 0;
    const char first = bytes[at + 1];
    if (first < '1' || first > '9') return 0;
    length = static_cast<std::size_t>(first - '0');
    for (std::size_t digits = 1; digits <= most_digits; ++digits) {
        const char next = bytes[at + 1 + digits];
        if (next == '\r') return digits + 3;
        if (next < '0' || next > '9') return 0;
        length = length * 10 + static_cast<std::size_t>(next - '0');
    }
    return 0;
}

reading read_word_closely(std::string_view bytes, bool stranger, std::size_t& at,
                          std::string_view& word) {
    const auto header = line_at(bytes, at);
    if (header.too_long) return malformed("too big bulk count string");
    if (!header.complete) return {};
    if (bytes[at] != '$') return malformed("expected '$', got ", bytes[at]);
    const auto length = whole_number(header.text.substr(1));
    if (!length || *length < 0 || *length > longest_word) return malformed("invalid bulk length");
    if (stranger && *length > longest_word_of_strangers) {
        return malformed("unauthenticated bulk length");
    }
    const auto body = at + header.text.size() + 2;
    const auto size = static_cast<std::size_t>(*length);
    if (bytes.size() < body + size + 2) return {};
    word = bytes.substr(body, size);
    at = body + size + 2;
    return {.what = kind::command};
}

reading read_word(std::string_view bytes, bool stranger, std::size_t& at, std::string_view& word) {
    std::size_t length = 0;
    const auto header = glance_at_header(bytes, at, length);
    if (header == 0 || bytes.size() < at + header + length + 2) {
        return read_word_closely(bytes, stranger, at, word);
    }
    word = {bytes.data() + at + header, length};
    at += header + length + 2;
    return {.what = kind::command};
}

}  // namespace

reading read_command(std::string_view bytes, bool stranger, std::vector<std::string_view>& words) {
    words.clear();
    if (bytes.empty()) return {};
    if (bytes.front() != '*') return malformed("inline commands are not simulated");
    const auto header = line_at(bytes, 0);
    if (header.too_long) return malformed("too big mbulk count string");
    if (!header.complete) return {};
    const auto count = whole_number(header.text.substr(1));
    if (!count || *count > most_words) return malformed("invalid multibulk length");
    if (stranger && *count > most_words_of_strangers) {
        return malformed("unauthenticated multibulk length");
    }
    auto at = header.text.size() + 2;
    for (std::int64_t i = 0; i < *count; ++i) {
        std::string_view word;
        const auto found = read_word(bytes, stranger, at, word);
        if (found.what != kind::command) return found;
        words.push_back(word);
    }
    return {.what = kind::command, .size = at};
}

}  // namespace holdfast::sim
