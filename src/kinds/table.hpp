#pragma once

#include <span>
#include <string_view>

#include "kinds/kind.hpp"

/// The kinds of locks that there are.
namespace holdfast::kinds {

std::span<const kind* const> all();

/// The lock whose waiters are to ask again when a server says that `changed` did; empty: none.
std::string_view woken_by(std::string_view changed);

/// The kind of lock that an owner token is of. What is none is taken for an exclusive one's: other
/// libraries know no other kind.
const kind& of_owner(std::string_view owner);

}  // namespace holdfast::kinds
