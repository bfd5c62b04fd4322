#pragma once

#include "kinds/kind.hpp"

namespace holdfast::kinds {

/// One holder at a time. The lock is a string with the owner token, as the Redlock libraries of
/// other languages have it; the fencing counter stands beside it. Without fencing it can be taken
/// by SET NX PX, which tells nothing about who holds it, and reads nothing that the server could
/// tell us about.
const kind& exclusive() noexcept;

}  // namespace holdfast::kinds
