#pragma once

#include <cstdint>

#include "core/node_set.hpp"
#include "core/time.hpp"
#include "sim/value.hpp"

namespace holdfast::sim {

/// Names an attempt. The text of it is the owner token in the key, so it is new for each attempt.
using owner_id = std::uint32_t;

/// Names one of a client's connections, past or present.
using connection_id = std::uint32_t;

enum class operation : std::uint8_t { hello, enlist, time, acquire, commit, extend, release };

/// What a client asks of a node. The scripts' KEYS and ARGV are spelled out from it at the node.
struct request {
    operation what{};
    std::uint32_t worker = 0;  // whose it is
    owner_id owner = 0;
    std::int64_t ttl_ms = 0;        // also: of the quarantine (negative: no guard)
    std::uint64_t token = 0;        // of a commit
    std::uint32_t tokens = 1;       // that an acquire draws
    std::uint32_t run = 0;          // the life of the server that the client believes in:
    std::uint32_t replication = 0;  // run and replication id
    std::uint64_t floor = 0;        // of the tokens that an acquire draws
    std::int64_t max_ttl_ms = 0;    // that an enlisting client wants all to agree on
    std::uint32_t attempt = 0;      // of a renewal: which one
    bool tracks = false;            // wants to be told from now on: CLIENT TRACKING ON
    bool listens = false;           // wants to be told when the lock's key goes away
    bool with_text = false;         // EVAL; otherwise EVALSHA, which may find no script
    core::time_point sent{};        // by the client's clock
    friend bool operator==(const request&, const request&) = default;
};

const char* name_of(operation what);

}  // namespace holdfast::sim
