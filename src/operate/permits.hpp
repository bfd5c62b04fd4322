#pragma once

#include <string>

#include "holdfast/operate.hpp"
#include "runtime/engine.hpp"

namespace holdfast::detail {

/// Notes how many permits the semaphore `name`, a whole key, has at its only voter, and who has
/// one. False: there is none, or it may not be looked at.
bool read_permits(lock_status& status, runtime::engine& engine, const runtime::electorate& whom,
                  const std::string& name);

}  // namespace holdfast::detail
