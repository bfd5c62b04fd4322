#pragma once

#include <string>
#include <vector>

#include "kinds/keys.hpp"
#include "operate/interview.hpp"

namespace holdfast::detail {

/// What the ACL keeps from us, as the rules that would allow it: `+set`, `~holdfast:*`.
struct lacking_rights {
    std::vector<std::string> to_lock;   // no lock without them
    std::vector<std::string> to_queue;  // waiters are not called, and look for themselves
    std::vector<std::string> further;   // done without, at a price: doc/acl.md
};

/// Tries a harmless form of every command that a fenced lock and a wait queue are made of, and
/// every kind of key and channel. `prefix` is what all of the client's keys begin with; `lock` is
/// one of them. Nothing is left behind.
lacking_rights find_lacking_rights(interview& with, const std::string& prefix,
                                   const kinds::keys& lock, bool guarded) HOLDFAST_LOCKED;

}  // namespace holdfast::detail
