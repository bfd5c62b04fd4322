#pragma once

#include <optional>
#include <span>

#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// One failure for those of all nodes: what a single node said, or for a quorum
/// `quorum of 5 unreachable: 2 granted, 127.0.0.1:7003 connection refused, ... (need 3)`.
net::failure summarize_failures(engine& through,
                                std::span<const std::optional<net::failure>> by_node,
                                std::size_t granted, std::size_t denied);

[[noreturn]] void raise(const net::failure& why);

}  // namespace holdfast::runtime
