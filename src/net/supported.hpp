#pragma once

#include <optional>
#include <string>

#include "net/handshake.hpp"

namespace holdfast::net {

/// Why no lock can be kept at a server of this kind, whatever its settings: it is too old, a
/// Sentinel, or a node of a Cluster whose URL is that of one server. nullopt: nothing that it said
/// of itself speaks against it. `clustered`: it was found in a Cluster, and has to be a node of
/// one.
///
/// The oldest version is 6.0.6: scripts that write after they have asked for the time need 5.0, the
/// restart guard and whoever waits need RESP3 and CLIENT TRACKING of 6.0, and the wait queue needs
/// LPOS. Nothing older is tested.
std::optional<failure> why_unsupported(const greeting& said, bool clustered = false);

/// `why` shows that the server is older than that.
failure too_old(const std::string& why);

}  // namespace holdfast::net
