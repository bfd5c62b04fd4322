#pragma once

#include <string>
#include <string_view>
#include <system_error>

namespace holdfast::tool {

/// What the library says, in the words of the command: its options instead of the settings of a
/// program.
std::string in_our_words(std::string_view message);

/// The same of a failure, and which option would mend it.
std::string in_our_words(const std::system_error& error);

}  // namespace holdfast::tool
