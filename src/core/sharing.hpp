#pragma once

#include <cstdint>

namespace holdfast::core {

/// With whom a holder of a key can share it, as a value: two can where each has what the other
/// puts up with. Readers are `{1, 1}`; whoever is alone is `{0, 0}`, and shares with nobody.
struct sharing {
    std::uint8_t as = 0;    // what it is, one bit
    std::uint8_t with = 0;  // what it puts up with, a bit for each

    friend constexpr bool operator==(sharing, sharing) = default;
};

inline constexpr sharing alone{};

constexpr bool compatible(sharing a, sharing b) {
    return (a.as & b.with) != 0 && (b.as & a.with) != 0;
}

}  // namespace holdfast::core
