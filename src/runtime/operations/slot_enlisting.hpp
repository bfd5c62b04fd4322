#pragma once

#include "net/enlisting.hpp"
#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// Enlists every slot that a server of a Cluster serves, as the client's map has it, some hundred
/// at a time; blocks until each is. Returns the longest of their quarantines. What the client knew
/// of the slots is forgotten. Throws std::system_error with what the first slot failed for.
/// REQUIRES: `lock` held, the server connected.
core::duration enlist_slots(engine& through, base::client_lock& lock, core::node_index server,
                            net::enlisting how) HOLDFAST_LOCKED;

}  // namespace holdfast::runtime
