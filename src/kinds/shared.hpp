#pragma once

#include <string>
#include <string_view>

#include "kinds/kind.hpp"

namespace holdfast::kinds {

/// Any number of readers, who keep out whoever wants the same key for itself. For those the lock is
/// a string, as every other: src/scripts/shared/reading.lua. Whoever writes is of the exclusive
/// kind.
///
/// Fencing tokens come from the same counter. With one voter every reader has its own; those of
/// several voters may give readers who read at the same time one and the same.
const kind& shared() noexcept;

/// Under which a writer goes on as a reader: with the same digits, so that servers can tell that
/// they are the same. extend() is what makes it one, and release() ends it either way.
std::string reader_of(std::string_view writer);

/// The sorted set of those who read a lock, where there are several.
std::string readers_key(std::string_view lock);

/// A member of that set which is no reader, but says which time of reading it is of.
inline constexpr char phase_mark = '=';

}  // namespace holdfast::kinds
