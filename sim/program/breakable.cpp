// holdfast-sim-mutants: linked with the core of sim/mutants/core.cmake.
#include "sim/hunt.hpp"

namespace holdfast::sim {
const bool core_is_breakable = true;
}
