#pragma once

#include <string>
#include <string_view>

#include "kinds/kind.hpp"

namespace holdfast::kinds {

/// As many holders as there are permits, each with the number of its slot. What is at the key is no
/// string: a lock of another kind there, or one that comes later, is refused by the server.
/// src/scripts/semaphore/permits.lua says how it is kept.
///
/// One voter only: the votes of several could add up to more holders than there are permits.
const kind& semaphore() noexcept;

/// The sorted set of those who have a permit, and of slots that are free again.
std::string permits_key(std::string_view lock);

/// Asks for another limit: answered by the one so far.
void append_set_limit(std::string& out, const keys& of, std::uint32_t limit,
                      core::duration retention);

}  // namespace holdfast::kinds
