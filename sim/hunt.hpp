#pragma once

#include <cstdint>

namespace holdfast::sim {

/// Defined in the program: whether the core in it has the mutants built in.
extern const bool core_is_breakable;

/// Runs seeds with each mutant in turn until a checker notices, and prints who and after how many.
/// Returns 0 if all were caught, within `most` seeds each.
int hunt_all(unsigned jobs, std::uint64_t most);

}  // namespace holdfast::sim
