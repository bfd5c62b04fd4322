#pragma once

#include "sim/server/value.hpp"

/// What several commands of a keyspace answer.
namespace holdfast::sim {

inline value wrong_type() {
    return value::error("WRONGTYPE Operation against a key holding the wrong kind of value");
}

inline value syntax_error() { return value::error("ERR syntax error"); }

inline value not_a_number() { return value::error("ERR value is not an integer or out of range"); }

}  // namespace holdfast::sim
