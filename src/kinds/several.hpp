#pragma once

#include "kinds/kind.hpp"

namespace holdfast::kinds {

/// Several keys at once, all or nothing: keys::lock and keys::others. Each of them is a string with
/// the owner token, as that of an exclusive lock, and whoever locks one of them alone is excluded.
///
/// Its owner tokens begin with `hm1:`. What is asked for in the name of such an owner, and names
/// one key, is done for that one alone. It shares with nobody, and is allowed everywhere; one
/// fencing token is drawn, above the counters of all keys, whatever number was asked for.
const kind& several() noexcept;

}  // namespace holdfast::kinds
