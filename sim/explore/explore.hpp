#pragma once

#include "sim/explore/explorer.hpp"

namespace holdfast::sim {

/// Runs the small cases of `sim/explore/explorer.hpp` exhaustively and prints what was found.
/// Returns 0 if the right rules hold and the wrong ones fail.
int run_explorer(const small_case& size);

/// The same for the small cases of `sim/explore/queue_rules.hpp`.
int run_queue_explorer(const small_case& size);

}  // namespace holdfast::sim
