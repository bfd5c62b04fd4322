#pragma once

#include "holdfast/client.hpp"
#include "runtime/engine.hpp"

namespace holdfast::sim {

/// A client of the public interface with the engine of a simulated process. What it is given must
/// not ask what time it is: that is the real one. The engine is closed by somebody else.
::holdfast::client public_client_of(const runtime::engine_pointer& engine);

}  // namespace holdfast::sim
