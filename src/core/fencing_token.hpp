#pragma once

#include <compare>
#include <cstdint>

namespace holdfast::core {

/// Larger for every later holder of the same key. Zero: none was asked for.
struct fencing_token {
    std::uint64_t value = 0;
    friend constexpr auto operator<=>(fencing_token, fencing_token) = default;
};

}  // namespace holdfast::core
