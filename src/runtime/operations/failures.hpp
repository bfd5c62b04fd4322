#pragma once

#include <optional>
#include <span>
#include <string>
#include <system_error>

#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// One failure for those of all voters: what a single one said, or for a quorum
/// `no majority of 5 servers: 2 granted, 127.0.0.1:7003: connection refused, ... (need 3)`.
net::failure summarize_failures(engine& through, const electorate& of,
                                std::span<const std::optional<net::failure>> by_voter,
                                std::size_t granted, std::size_t denied) HOLDFAST_LOCKED;

[[noreturn]] void raise(const net::failure& why);

/// What was asked for cannot be, and its caller has to change that.
[[noreturn]] void refuse(errc code, const std::string& why);

/// What was said when it was thrown, without what its code says.
std::string said_by(const std::system_error& thrown);

}  // namespace holdfast::runtime
