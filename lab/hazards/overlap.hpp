#pragma once

#include "lab/hazard.hpp"

namespace holdfast::lab {

/// A lock as long as the stories in which nothing should expire, and one to wait out.
inline constexpr milliseconds long_ttl{10'000};
inline constexpr milliseconds short_ttl{1'000};

struct hold {
    actor& who;
    outcome got;
};

/// Whether there are two holders at once. REQUIRES: `first` was granted, and `second` has tried
/// since, within the ttl of the first.
verdict judge_overlap(const hold& first, const hold& second);

}  // namespace holdfast::lab
