#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::test {

/// The length of the first whole command in what a client sent: an array of bulk strings, or a
/// line. 0 while it is incomplete. Whatever is neither counts as one command, all of it.
std::size_t first_command_length(std::string_view sent);

}  // namespace holdfast::test
