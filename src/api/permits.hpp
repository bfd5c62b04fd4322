#pragma once

#include <cstdint>
#include <string>
#include <system_error>

#include "holdfast/error.hpp"
#include "holdfast/semaphore.hpp"

namespace holdfast::detail {

/// Throws errc::invalid_option where no semaphore can have so many.
inline std::uint32_t require_permits(std::uint32_t permits) {
    if (permits >= 1 && permits <= max_permits) return permits;
    throw std::system_error(errc::invalid_option, "a semaphore has 1 to " +
                                                      std::to_string(max_permits) +
                                                      " permits, not " + std::to_string(permits));
}

}  // namespace holdfast::detail
