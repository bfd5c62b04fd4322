#pragma once

#include <string>
#include <system_error>

#include "holdfast/detail/language.hpp"

namespace holdfast {

/// Why an operation failed. That another holds the lock is not among them: that is a value. Thrown
/// as std::system_error, whose what() names the server and what it said. The servers of a quorum
/// that fail for different reasons are errc::unreachable together.
enum class errc {
    unreachable = 1,  // no server, or no majority, answered in time; or granted with too little
                      // of the ttl left, or acknowledged by too few replicas
    authentication,   // user or password refused
    permission,       // the ACL forbids a command or a key that we need: doc/acl.md
    untrusted,        // the server's certificate was refused
    protocol,         // what answered is not a Redis
    wrong_type,       // what is at the key is no lock, or at its fencing counter no counter
    unsafe_server,    // not fit to keep locks (eviction, a replica, too old, Sentinel, a node
                      // of a Cluster given as a server, a clock that jumped, servers of a quorum
                      // that are not independent)
    server_error,     // the server answered with any other error
    invalid_url,      // doc/urls.md
    invalid_option,   // options.hpp has the limits
    invalid_key,      // empty, too long, begins with "holdfast:", which is kept for our own; in a
                      // Cluster also with a '}' outside a hash tag
    not_held,         // this thread does not hold the mutex, or the lease was released
    lost,             // the lease's deadline has passed, or its key is gone
    cancelled,        // by the caller's stop_token or cancellation slot
    closed,           // the client was destroyed, or moved from
    forked,           // the client belongs to the parent process
    other_max_ttl,    // the servers' guarded clients agreed on another max_ttl than this one has
    other_limit,      // the semaphore was agreed on with another number of permits
};

const std::error_category& error_category() noexcept;
std::error_code make_error_code(errc code) noexcept;

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::errc> : std::true_type {};
