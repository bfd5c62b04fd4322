#pragma once

#include <cstdint>
#include <string>

#include "sim/world/clocks.hpp"

namespace holdfast::sim {

/// doc/testing.md says when each is checked.
enum class rule : std::uint8_t {
    exclusion,      // T1: validity intervals do not overlap
    token_order,    // T2: tokens are unique, and larger for whoever starts later
    lost_update,    // the fenced register (and under T1 the plain one) loses no update
    staleness,      // no lease begins, or goes on, after its own deadline
    ownership,      // no release, renewal or commit touches what another owns; no owner is shared
    line,           // who stands in line at the only server is served in order, and is called
    stall,          // nobody waits there for a lock that nobody has, or that was granted in vain
    orphan,         // no key outlives its attempt by more than it may
    notice,         // the stop_token fires before the deadline
    quorum,         // who believes to hold has its key at a majority, until its deadline
    voided_vote,    // a server whose clock was seen to jump is not asked
    outsider,       // who cannot keep to the guard asks for no vote
    needless_loss,  // without faults no lease is lost
    recovery,       // after healing everybody gets the lock
    permits,        // no more have a permit than there are
    latch,          // none is open before its count, and who waits is told
    leader,         // observers are told of who leads in its own term, and in time
};

const char* name_of(rule r);

struct violation {
    rule broken{};
    instant at{};
    std::string what;
};

/// A time as people read it.
std::string seconds(instant at);

}  // namespace holdfast::sim
