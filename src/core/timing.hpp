#pragma once

#include <algorithm>

#include "core/time.hpp"

namespace holdfast::core {

/// How long a lease lives at the servers, and how much of that its holder may believe in.
struct timing {
    duration ttl{};
    duration guard_time{};          // lock-delay: at least this much is never believed
    duration min_validity{};        // an acquire that would leave less than this has failed
    unsigned drift_per_mille = 10;  // bound on the rate error between two machines' clocks

    /// What is subtracted from the ttl: rate error over the whole ttl, plus the milliseconds to
    /// which servers round, and never less than the caller's lock-delay.
    [[nodiscard]] constexpr duration guard() const {
        return std::max(ttl * drift_per_mille / 1000 + std::chrono::milliseconds(2), guard_time);
    }

    /// Until when a lease may be believed whose request left at `sent`, before the first byte.
    [[nodiscard]] constexpr time_point valid_until(time_point sent) const {
        return sent + ttl - guard();
    }
};

}  // namespace holdfast::core
