#pragma once

#include <cstdint>

#include "sim/explore/small_rules.hpp"

namespace holdfast::sim::small {

/// 64 bits of what matters of a state; states that cannot be told apart by anything that may still
/// happen have the same. Two states are taken to be one
///
///   - if they differ in the names of nodes or clients alone: nothing depends on a name but the
///     clock that a missing counter starts from, which then counts as a part of the node;
///   - in the owner of a key that nobody is going to release: what is left of it is that it blocks;
///   - in numbers (tokens, counters), as long as these are equal, one apart, two apart ... in the
///     same way: numbers are copied, compared and counted up by one, once for each attempt at most,
///     so those further apart than there are attempts stay so;
///   - in tokens that were given out and lie below all that may still be drawn;
///   - in what a client that has decided or finished was told before: it has its token, if any.
std::uint64_t canonical_print(const state& s);

}  // namespace holdfast::sim::small
