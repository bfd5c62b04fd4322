#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/operate.hpp"
#include "runtime/engine.hpp"

namespace holdfast::detail {

/// The latch at the key `name`, with the client's prefix; nullopt: there is none, or it cannot be
/// looked at. Only one server can have one.
std::optional<lock_status> find_latch(runtime::engine& engine, const std::string& name);

/// The globs that match what stands beside the latches whose key matches `glob`.
std::vector<std::string> globs_beside_latches(std::string_view glob);

}  // namespace holdfast::detail
