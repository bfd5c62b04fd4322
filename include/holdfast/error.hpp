#pragma once

#include <string>
#include <system_error>

#include "holdfast/detail/language.hpp"

namespace holdfast {

/// Why an operation could not do its work. "Somebody else holds the lock" is not among them: that
/// is an answer. Thrown inside std::system_error, whose what() names the node and what it said.
enum class errc {
    unreachable = 1,  // no server, or no majority of servers, answered in time
    authentication,   // user or password refused
    permission,       // the ACL does not allow a command or a key that we need
    untrusted,        // the server's certificate was refused
    protocol,         // what answered is not a Redis
    wrong_type,       // the key exists and is not a lock
    unsafe_server,    // not fit to keep locks (eviction, a replica, too old, Sentinel, Cluster)
    server_error,     // the server answered with any other error
    invalid_url,
    invalid_option,
    invalid_key,
    not_held,       // this thread does not hold the mutex, or the lease was released
    lost,           // the lease's deadline has passed, or its key is gone
    cancelled,      // the caller's stop_token or cancellation slot fired
    closed,         // the client was destroyed, or moved from
    forked,         // the client belongs to the parent process
    other_max_ttl,  // the servers' guarded clients agreed on another max_ttl than this one has
};

const std::error_category& error_category() noexcept;
std::error_code make_error_code(errc code) noexcept;

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::errc> : std::true_type {};
