#pragma once

#include <cstddef>
#include <cstdint>

#include "core/fencing_token.hpp"
#include "core/timing.hpp"

/// What a holder leaves that lets go while others of its process wait for the same lock. The first
/// of them may take the lease over as it stands, under the same owner token at the servers, without
/// asking any: exclusion is a matter of this process then, and the old holder has let go.
///
///   it must be        because
///   unchanged         renewals and extensions are between their holder and the servers, and one
///                     may still be on its way
///   with a token left every holder has a fencing token of its own; the first draws for all, and
///                     the servers count on from the last
///   young             other processes wait, too; and the heir expects nearly a whole ttl
///   of equal timing   what the servers were asked for is what the heir would ask for
namespace holdfast::core {

struct estate {
    time_point sent_at{};  // when the servers were asked for it
    time_point valid_until{};
    fencing_token token{};    // of who leaves it; zero without fencing
    std::uint32_t heirs = 0;  // how many more may follow, one after the other
    bool unchanged = true;    // since the servers granted it
};

/// How many may have one grant of the servers in turn. Counters that start from a clock in
/// microseconds bear it: fewer than a million tokens a second are drawn.
inline constexpr std::uint32_t most_holders = 16;

/// How long they may go on, if their leases are not even shorter: what others wait at most for it.
inline constexpr duration longest_succession = std::chrono::milliseconds(20);

/// How many tokens to draw for a caller with so many others of its process behind it. Few can be
/// many heirs: who lets go while others wait is often soon in line again.
std::uint32_t tokens_for(std::size_t behind);

/// `granted`, `wished`: what it was asked for with, and what the heir would have asked with.
bool may_inherit(const estate& left, const timing& granted, const timing& wished, time_point now);

/// As its heir has it. REQUIRES: may_inherit.
estate inherit(const estate& left);

/// What the first holder has of a grant: the servers' counters stand at the last of its tokens.
estate found(time_point sent_at, time_point valid_until, fencing_token last, std::uint32_t tokens);

}  // namespace holdfast::core
