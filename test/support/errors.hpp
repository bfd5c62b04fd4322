#pragma once

#include <string>

namespace holdfast::test {

/// Throws std::runtime_error with `what` and the text of the current errno.
[[noreturn]] void throw_errno(const std::string& what);

/// Throws std::runtime_error with `what` and the text of the error number.
[[noreturn]] void throw_error(const std::string& what, int error);

}  // namespace holdfast::test
