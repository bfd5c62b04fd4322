#include "support/command_splitter.hpp"

#include <charconv>
#include <optional>

namespace holdfast::test {

namespace {

enum class progress { complete, incomplete, nonsense };

struct cursor {
    std::string_view text;
    std::size_t position = 0;
};

/// Reads a line like "*3" or "$17" with the given first character.
progress read_header(cursor& at, char type, std::size_t& number) {
    const std::size_t end = at.text.find("\r\n", at.position);
    if (end == std::string_view::npos)
        return at.position < at.text.size() && at.text[at.position] != type ? progress::nonsense
                                                                            : progress::incomplete;
    const std::string_view line = at.text.substr(at.position, end - at.position);
    if (line.empty() || line.front() != type) return progress::nonsense;
    const auto [stop, error] = std::from_chars(line.data() + 1, line.data() + line.size(), number);
    if (error != std::errc{} || stop != line.data() + line.size()) return progress::nonsense;
    at.position = end + 2;
    return progress::complete;
}

progress read_command(cursor& at) {
    std::size_t arguments = 0;
    if (const auto result = read_header(at, '*', arguments); result != progress::complete)
        return result;
    for (; arguments > 0; --arguments) {
        std::size_t size = 0;
        if (const auto result = read_header(at, '$', size); result != progress::complete)
            return result;
        if (at.text.size() - at.position < size + 2) return progress::incomplete;
        at.position += size + 2;
    }
    return progress::complete;
}

}  // namespace

std::size_t first_command_length(std::string_view sent) {
    cursor at{.text = sent};
    switch (read_command(at)) {
        case progress::complete: return at.position;
        case progress::incomplete: return 0;
        case progress::nonsense: break;
    }
    if (!sent.empty() && sent.front() != '*') {
        if (const auto end = sent.find("\r\n"); end != std::string_view::npos) return end + 2;
    }
    return sent.size();
}

}  // namespace holdfast::test
