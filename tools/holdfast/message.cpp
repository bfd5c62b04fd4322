#include "message.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "exit_code.hpp"
#include "failure.hpp"

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
    std::string line = styled("holdfast:", style::faint, colours_on(STDERR_FILENO));
    line.append(" ").append(message).append("\n");
    write_all(STDERR_FILENO, line);
}

void print(std::string_view text) {
    if (!write_all(STDOUT_FILENO, text)) {
        throw failure(exit_code::system,
                      std::string("cannot write to standard output: ") + std::strerror(errno));
    }
}

std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string safe;
    for (const char character : text) {
        const auto byte = static_cast<unsigned char>(character);
        if (byte >= 0x20 && byte != 0x7f) {
            safe += character;
        } else {
            safe.append("\\x").append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
        }
    }
    return safe;
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
