#pragma once

#include <string>

#include "holdfast/operate.hpp"
#include "runtime/engine.hpp"

namespace holdfast::detail {

/// Notes who leads by the lock, of which `status` says what is at its key at each voter.
void read_leader(lock_status& status, runtime::engine& engine, const runtime::electorate& whom,
                 const std::string& name);

}  // namespace holdfast::detail
