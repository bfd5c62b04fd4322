#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/client.hpp"
#include "holdfast/lease.hpp"

/// For people and tools that look after locks, rather than hold them: who holds what, release by
/// owner token, and what a server is worth as a voter. All of it asks the servers and blocks until
/// they have answered; failures throw std::system_error with a holdfast::errc.
namespace holdfast {

/// How one key stands at the servers. Held: one owner has a majority.
struct lock_status {
    std::string key{};
    std::optional<holder> held_by{};  // of the owner with most votes
    std::uint64_t token = 0;          // the fencing counter as it stands; 0: none
    std::size_t votes = 0;            // nodes that hold it for that owner
    std::size_t nodes = 0;            // nodes asked

    struct node_view {
        std::string node{};   // its name
        std::string owner{};  // what the key holds there; empty: nothing
        std::optional<std::chrono::milliseconds> remaining{};
        std::string error{};  // why it could not say
    };
    std::vector<node_view> views{};  // one per node, in the order of the URLs
};

[[nodiscard]] lock_status inspect(client& through, std::string_view key);

/// Visits every lock that Holdfast took whose key matches the glob, in no order, at most once.
/// Reads with SCAN: safe on a busy server, and blind to locks that come and go meanwhile.
void list(client& through, std::string_view glob,
          const std::function<void(const lock_status&)>& visit);

/// Releases or extends a lock by its owner token, which whoever took it was given.
[[nodiscard]] release_result unlock(client& through, std::string_view key, std::string_view owner);

/// Lets it live for `ttl` from now, if that is longer. Returns until when the caller may believe
/// in it, or nullopt if the lock is not that owner's any more.
[[nodiscard]] std::optional<clock::time_point> renew(client& through, std::string_view key,
                                                     std::string_view owner,
                                                     std::chrono::milliseconds ttl);

/// What can be seen of one server. Unset: it could not be found out; `error` may say why.
struct server_report {
    std::string node{};
    std::string error{};  // unreachable, refused, ...: nothing below is set then
    std::error_code code{};
    std::chrono::nanoseconds round_trip{};  // median of several
    bool tls = false;
    int protocol = 0;       // RESP version in use: 3 or 2
    std::string product{};  // "redis" or "valkey"
    std::string version{};
    std::string run_id{};
    std::string role{};             // "master", "slave"
    std::string eviction_policy{};  // maxmemory-policy
    std::optional<std::uint64_t> maxmemory{};
    std::optional<bool> append_only{};
    std::string fsync{};  // appendfsync
    std::optional<bool> snapshots{};
    std::optional<std::chrono::milliseconds> clock_difference{};  // its wall clock against ours
    bool tracking = false;                      // tells waiters instead of being polled
    std::vector<std::string> missing_rights{};  // commands that the ACL refuses us
    std::optional<bool> enlisted{};             // the restart marker is of its present life
    std::optional<std::chrono::milliseconds> quarantine{};  // time left, if it is in one
    std::string one_with{};  // another node of the quorum that is the same server, or replicates it
};

[[nodiscard]] std::vector<server_report> examine(client& through);

/// Compares the restart markers now; with `fresh`, vouches for servers that never held a lock.
/// Returns, per node, how long it stays in quarantine (zero: it votes). Nodes that cannot be
/// reached do not keep the others from being enlisted; the first of them is thrown in the end.
[[nodiscard]] std::vector<std::chrono::milliseconds> enlist(client& through, bool fresh);

}  // namespace holdfast
