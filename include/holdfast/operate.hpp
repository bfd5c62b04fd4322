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
/// they have answered; failures throw std::system_error with a holdfast::errc. Keys are
/// without options::prefix, in both directions: what list() shows can be given to unlock().
namespace holdfast {

/// What is looked at of a value: no owner of ours is longer, and whatever else is there is cut.
inline constexpr std::size_t max_owner_bytes = 1024;

/// How one key stands at the servers. Held: one owner has a majority. A key of another kind is
/// errc::wrong_type, unless Redisson holds it: then its owner is the `<uuid>:<thread>` found there.
struct lock_status {
    std::string key{};
    std::optional<holder> held_by{};  // of the owner with most votes
    bool ttl_known = true;            // false: the user may not ask how long that still runs
    std::uint64_t token = 0;          // the fencing counter as it stands; 0: none
    std::string no_token{};           // why none can be drawn: what is there instead of a counter
    std::size_t votes = 0;            // nodes that hold it for that owner
    std::size_t nodes = 0;            // nodes asked
    std::optional<std::chrono::milliseconds> quarantine{};  // nobody can take it: see quarantine()

    struct node_view {
        std::string node{};   // its name
        bool taken = false;   // there is something at the key
        std::string owner{};  // what that is; another program's may be empty
        std::optional<std::chrono::milliseconds> remaining{};
        std::string error{};                                    // why it could not say
        std::optional<std::chrono::milliseconds> quarantine{};  // it grants nothing for so long
    };
    std::vector<node_view> views{};  // one per node, in the order of the URLs
};

[[nodiscard]] lock_status inspect(client& through, std::string_view key);

/// For how long no majority of the servers grants a lock to this client, because they are new or
/// have restarted and may have forgotten locks. Asks nobody: it is what the client was told when it
/// connected and with every heartbeat since, so nothing is known before anything was asked through
/// it. nullopt: a majority may grant locks, or this client has no restart guard.
[[nodiscard]] std::optional<std::chrono::milliseconds> quarantine(client& through);

/// What the client calls its servers, in the order of their URLs. Asks nobody.
[[nodiscard]] std::vector<std::string> server_names(client& through);

/// Visits every lock that Holdfast took whose key matches the glob, in no order, at most once.
/// Reads with SCAN, and a few bytes of every string: safe on a busy server, also beside large
/// values, and blind to locks that come and go meanwhile. The glob, too, is without the prefix.
using lock_visitor = std::function<void(const lock_status&)>;
void list(client& through, std::string_view glob, const lock_visitor& visit);

/// The same of every lock, with whatever prefix, that any server has: what to look at before one is
/// vouched for. Enlists no server, and throws unless every one of them could be looked at. Keys are
/// whole, with their prefix.
void list_everywhere(client& through, const lock_visitor& visit);

/// Releases or extends a lock by its owner token, lease::owner(), which whoever took it was given.
/// Once that lease is let go, nothing is found by it.
[[nodiscard]] release_result unlock(client& through, std::string_view key, std::string_view owner);

inline constexpr std::size_t max_reason_bytes = 1024;

/// Takes a lock away from `owner`, who may be anybody, also another library, and may believe in it
/// until the next renewal fails: the fencing token is what stops it meanwhile. Compares the owner,
/// as unlock() does: who has come since is left alone, but for who was handed the lock within the
/// same process, under the same owner. In the same step it leaves a note at the
/// servers, for 30 days, and the log gets a record.
[[nodiscard]] release_result force_unlock(client& through, std::string_view key,
                                          std::string_view owner, std::string_view reason);

/// That note.
struct forced_release {
    std::chrono::system_clock::time_point at{};
    std::string by{};       // user@host:pid
    std::string held_by{};  // user@host:pid:label, or what another library had there
    std::string reason{};
};

/// The last one for this key; nullopt: none that is known.
[[nodiscard]] std::optional<forced_release> last_forced(client& through, std::string_view key);

/// Lets it live for `ttl` from now, if that is longer. Returns until when the caller may believe
/// in it, or nullopt if the lock is not that owner's any more.
[[nodiscard]] std::optional<clock::time_point> renew(client& through, std::string_view key,
                                                     std::string_view owner,
                                                     std::chrono::milliseconds ttl);

/// Lets a lock that its holder is done with keep others out for `how_long` from now, and no longer.
/// Nobody may believe in it any more: so it may take longer than max_ttl, up to longest_time, and a
/// server that forgets it waits no longer than max_ttl. Returns false if the lock is not that
/// owner's any more.
[[nodiscard]] bool linger(client& through, std::string_view key, std::string_view owner,
                          std::chrono::milliseconds how_long);

/// What came of a lock that was taken and released at once.
struct trial_lock {
    std::error_code code{};  // none: it was taken, extended and released
    std::string answer{};    // what the server said instead
};

/// What can be seen of one server. Unset: it could not be found out; `error` may say why.
struct server_report {
    std::string node{};
    std::string user{};   // as whom we are logged in there
    std::string error{};  // unreachable, refused, ...: nothing below is set then
    std::error_code code{};
    std::chrono::nanoseconds round_trip{};  // median of several
    bool tls = false;
    int protocol = 0;       // RESP version in use: 3 or 2
    std::string product{};  // "redis" or "valkey"
    std::string version{};
    std::string run_id{};
    std::string role{};             // "master", "slave"
    std::string mode{};             // "standalone", "sentinel", "cluster"
    std::string unsupported{};      // why no client of ours uses it; nothing below is set then
    std::string watched_master{};   // URL of the master that a Sentinel watches
    std::string eviction_policy{};  // maxmemory-policy
    std::optional<std::uint64_t> maxmemory{};
    std::optional<bool> append_only{};
    std::string fsync{};  // appendfsync
    std::optional<bool> snapshots{};
    std::optional<std::chrono::milliseconds> clock_difference{};  // its wall clock against ours
    bool tracking = false;                      // tells waiters instead of being polled
    std::vector<std::string> missing_rights{};  // ACL rules that a lock needs: "+set", "~app:*"
    std::vector<std::string> further_rights{};  // ACL rules that are done without: doc/acl.md
    std::optional<trial_lock> trial{};          // unset for a replica, too
    std::optional<bool> enlisted{};             // a guarded client noted its present life
    std::optional<std::chrono::milliseconds> max_ttl{};     // that guarded clients agreed on
    std::optional<std::chrono::milliseconds> quarantine{};  // time left, if it is in one
    std::string one_with{};  // another node of the quorum that is the same server, or replicates it
};

/// Looks at every server of the client, over connections of its own, and takes a trial lock on a
/// key that nobody else uses. Leaves nothing behind, and enlists no server.
[[nodiscard]] std::vector<server_report> examine(client& through);

/// Compares the records of the servers' lives now; with `fresh`, vouches for servers that hold no
/// lock of before: they vote at once, and this client's max_ttl is the one to agree on from now on.
/// Returns, per node, how long it stays in quarantine (zero: it votes). Nodes that cannot be
/// reached do not keep the others from being enlisted; the first of them is thrown in the end.
[[nodiscard]] std::vector<std::chrono::milliseconds> enlist(client& through, bool fresh);

/// The life that each server lives now, over connections that enlist none; empty for one that does
/// not tell. Throws unless all of them could be asked. Who looks for locks before it vouches asks
/// for this first.
[[nodiscard]] std::vector<std::string> lives(client& through);

/// The same as enlist(through, true), for these lives and no others: a server that has restarted
/// since lives() is refused with errc::unsafe_server. One whose life is empty here is vouched for
/// whichever it lives.
[[nodiscard]] std::vector<std::chrono::milliseconds> vouch_for(
    client& through, const std::vector<std::string>& lives);

}  // namespace holdfast
