#pragma once

#include "core/time.hpp"

namespace holdfast::core {

/// What a client remembers of others who are after a key of several voters, from one of its callers
/// to the next. Of one voter nothing has to be remembered: its queue knows who waits.
struct contention {
    bool known = false;  // somebody else was met
    duration spread{0};  // over which it was good to part from them after a split vote
    friend bool operator==(const contention&, const contention&) = default;
};

}  // namespace holdfast::core
