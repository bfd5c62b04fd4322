// holdfast-sim: linked with what ships as it is.
#include "sim/mutants/mutants.hpp"

namespace holdfast::sim {
const bool rules_are_breakable = false;
}
