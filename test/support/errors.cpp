#include "support/errors.hpp"

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace holdfast::test {

void throw_errno(const std::string& what) { throw_error(what, errno); }

void throw_error(const std::string& what, int error) {
    throw std::runtime_error{what + ": " + std::generic_category().message(error)};
}

}  // namespace holdfast::test
