#pragma once

#include "core/acquire.hpp"

/// Reads what an acquire has noted, for the comparison of states. The core keeps it to itself, and
/// nobody but the explorer has a reason to look. (An explicit instantiation may name a private
/// member.)
namespace holdfast::sim::inside {

using numbers = std::array<core::fencing_token, core::max_nodes>;

const numbers& counters(const core::acquire& of);
const numbers& commits_sent(const core::acquire& of);
core::node_set pending(const core::acquire& of);

template <auto Counters, auto CommitsSent, auto Pending>
struct opened {
    friend const numbers& counters(const core::acquire& of) { return of.*Counters; }
    friend const numbers& commits_sent(const core::acquire& of) { return of.*CommitsSent; }
    friend core::node_set pending(const core::acquire& of) { return of.*Pending; }
};

}  // namespace holdfast::sim::inside
