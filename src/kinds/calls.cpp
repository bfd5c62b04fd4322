#include "kinds/calls.hpp"

#include "resp/encoder.hpp"

namespace holdfast::kinds {

// Not kept: every request of who would wait has one, and hardly any is needed again.
std::string_view text_of(const entry& which, std::string_view channel) {
    thread_local std::string text;
    text = which.callable ? channel : "-";
    ((text += ' ') += resp::decimal{which.since}.text()) += ' ';
    return text;
}

// Owner tokens have no line breaks: control characters are not let into them.
std::optional<call> read_call(std::string_view message) {
    const auto end = message.find('\n');
    if (end == message.npos) return std::nullopt;
    return call{message.substr(0, end), message.substr(end + 1)};
}

}  // namespace holdfast::kinds
