// holdfast-sim-mutants: linked with the copies of sim/mutants/mutate.cmake.
#include "sim/mutants/mutants.hpp"

namespace holdfast::sim {
const bool rules_are_breakable = true;
}
