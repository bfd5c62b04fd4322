#pragma once

#include <string>

#include "holdfast/operate.hpp"
#include "kinds/keys.hpp"
#include "operate/interview.hpp"

namespace holdfast::detail {

/// The keys of a lock that nobody else asks for.
kinds::keys trial_keys(runtime::engine& through, core::node_index at) HOLDFAST_LOCKED;

/// Takes the lock with a fencing token, extends and releases it, by the scripts that do so for any
/// other lock. Leaves nothing behind, whatever comes of it.
trial_lock try_lock_at(interview& with, const kinds::keys& lock) HOLDFAST_LOCKED;

}  // namespace holdfast::detail
