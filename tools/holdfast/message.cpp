#include "message.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/detail/utf8.hpp"

namespace holdfast::tool {
namespace {

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

std::string_view escape_sequence(style look) {
    switch (look) {
        case style::good: return "\x1b[32m";
        case style::warning: return "\x1b[33m";
        case style::bad: return "\x1b[1;31m";
        case style::heading: return "\x1b[1m";
        case style::faint: return "\x1b[2m";
    }
    return "";
}

}  // namespace

void say(std::string_view message) {
    std::string text = styled("holdfast:", style::faint, colours_on(STDERR_FILENO)) + " ";
    for (;;) {
        const auto line = message.substr(0, message.find('\n'));
        text.append(printable(line)).append("\n");
        if (line.size() == message.size()) break;
        message.remove_prefix(line.size() + 1);
    }
    write_all(STDERR_FILENO, text);
}

void print(std::string_view text) {
    if (!write_all(STDOUT_FILENO, text)) {
        throw failure(exit_code::system,
                      std::string("cannot write to standard output: ") + std::strerror(errno));
    }
}

std::string printable(std::string_view text) { return detail::printable(text); }

std::string unambiguous(std::string_view text) {
    std::string out;
    for (;;) {
        const auto at = text.find("\\x");
        out += printable(text.substr(0, at));
        if (at == text.npos) return out;
        text.remove_prefix(at);
        out += begins_with_escape(text) ? "\\x5c" : "\\";
        text.remove_prefix(1);
    }
}

bool begins_with_escape(std::string_view text) {
    return text.starts_with("\\x") && text.size() >= 4 &&
           text.substr(2, 2).find_first_not_of("0123456789abcdef") == text.npos;
}

bool colours_on(int descriptor) {
    if (is_set("NO_COLOR") || ::isatty(descriptor) == 0) return false;
    const char* terminal = std::getenv("TERM");
    return terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string styled(std::string_view text, style look, bool coloured) {
    if (!coloured) return std::string(text);
    std::string result(escape_sequence(look));
    return result.append(text).append("\x1b[0m");
}

}  // namespace holdfast::tool
