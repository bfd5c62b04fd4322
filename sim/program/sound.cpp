// holdfast-sim, holdfast-sim-engine: linked with what ships as it is.
#include "sim/hunt.hpp"

namespace holdfast::sim {
const bool core_is_breakable = false;
}
