#pragma once

#include <string>
#include <string_view>

namespace holdfast::sim {

/// The name of a script: 40 lower-case hex digits of its text.
std::string sha1(std::string_view text);

}  // namespace holdfast::sim
