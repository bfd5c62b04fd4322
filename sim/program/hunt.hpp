#pragma once

#include <cstdint>

#include "sim/mutants/mutants.hpp"

namespace holdfast::sim {

/// Runs seeds with each mutant in turn until somebody notices, a checker or an assertion, and
/// prints who and after how many. Returns 0 if all were caught, within `most` seeds each.
///
/// Each is hunted in a process of its own: what is broken on purpose may end it, or never end.
int hunt_all(unsigned jobs, std::uint64_t most);

/// One of them, in this process. Returns 0 if it was caught.
int hunt(const mutant& prey, unsigned jobs, std::uint64_t most);

}  // namespace holdfast::sim
