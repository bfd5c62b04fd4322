#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::tool {

/// One line on standard error, in a single write, so that lines of many processes do not mix. Made
/// printable: error messages quote servers, files and arguments.
void say(std::string_view message);

/// Standard output is checked: what could not be written is a failure, not a silence.
void print(std::string_view text);

/// Text from elsewhere (keys, labels, owners), safe for a terminal: bytes of control characters, of
/// those that turn text around, and bytes that are not UTF-8 shown as \xNN.
std::string printable(std::string_view text);

/// The same for keys, without doubt about which bytes they have: a backslash that would begin such
/// an escape is \x5c, as in JSON. Not for say(), which makes its message printable itself.
std::string unambiguous(std::string_view text);
/// The text begins with \xNN, lower case.
bool begins_with_escape(std::string_view text);

enum class style : std::uint8_t { good, warning, bad, heading, faint };

/// A terminal whose user has not asked for NO_COLOR.
bool colours_on(int descriptor);

/// The text in colour if `coloured`, else as it is.
std::string styled(std::string_view text, style look, bool coloured);

}  // namespace holdfast::tool
