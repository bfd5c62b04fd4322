#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/operate.hpp"
#include "operate/waiters.hpp"
#include "runtime/engine.hpp"

namespace holdfast::detail {

/// What there is to say of the semaphore `name`, a whole key. nullopt: there is none, or it may not
/// be looked at. Who stands in line is as much as `how_much` says.
std::optional<lock_status> read_semaphore(runtime::engine& engine, const std::string& name,
                                          queue_view how_much);

/// The globs of the keys beside all semaphores whose keys match a glob; and the semaphore that such
/// a key stands beside, which is empty where it stands beside none.
std::array<std::string, 2> globs_beside_semaphores(std::string_view glob);
std::string semaphore_beside(std::string_view permits);

}  // namespace holdfast::detail
