// holdfast-sim-mutants, holdfast-sim-engine-mutants: linked with the copies of
// sim/mutants/mutate.cmake.
#include "sim/hunt.hpp"

namespace holdfast::sim {
const bool core_is_breakable = true;
}
