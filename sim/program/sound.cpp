// holdfast-sim: linked with the core as it is.
#include "sim/hunt.hpp"

namespace holdfast::sim {
const bool core_is_breakable = false;
}
