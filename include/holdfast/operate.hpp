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
#include "holdfast/election.hpp"
#include "holdfast/lease.hpp"

/// For people and tools that look after locks rather than hold them: who holds what, release by
/// owner token, and whether servers are fit to vote.
///
/// Unless said otherwise, a function
///   - asks the servers and blocks until they have answered or failed: for node_timeout a question,
///     and connect_timeout more to connect; options::patience does not apply;
///   - throws as operations on a client do; errc::invalid_key; and why no majority answered;
///   - may be called from any thread. REQUIRES: the client outlives the call.
/// Keys, and the glob, are without options::prefix: what list() shows can be given to unlock().
namespace holdfast {

/// How much is read of a key's value. No owner token of ours is longer; other values are cut.
inline constexpr std::size_t max_owner_bytes = 1024;

/// Of how many of those who wait inspect() tells.
inline constexpr std::size_t max_waiters_told = 1000;

/// Of how many of those who read it tells.
inline constexpr std::size_t max_readers_told = 1000;

/// Of how many of those who have a permit it tells.
inline constexpr std::size_t max_permits_told = 1000;

/// What a server has of a latch.
struct latch_view {
    std::uint64_t count = 0;
    std::uint64_t left = 0;  // who have not counted down; 0: it is open
    std::optional<std::chrono::milliseconds> remaining{};
};

/// What the servers have at one key. It is held if `votes` is a majority of `nodes`. A lock may be
/// free for a moment while somebody stands in line for it.
struct lock_status {
    std::string key{};
    std::optional<holder> held_by{};                        // the owner with most votes
    bool ttl_known = true;                                  // false: the ACL forbids to ask for it
    std::uint64_t token = 0;                                // the fencing counter; 0: none
    std::string no_token{};                                 // why none can be drawn
    std::size_t votes = 0;                                  // nodes that hold it for that owner
    std::size_t nodes = 0;                                  // nodes asked
    std::optional<std::chrono::milliseconds> quarantine{};  // see quarantine()

    struct node_view {
        std::string node{};   // as server_names()
        bool taken = false;   // there is something at the key
        std::string owner{};  // what that is; may be empty
        std::optional<std::chrono::milliseconds> remaining{};
        std::string error{};                                    // why it could not say
        std::optional<std::chrono::milliseconds> quarantine{};  // it grants nothing for that long
    };
    std::vector<node_view> views{};  // one per node, in the order of the URLs

    /// One of those who read it: shared_mutex.
    struct reader {
        holder who{};  // with its owner token, and how long its lease still runs
    };
    /// Set where it is read: those for whom a majority has it, the one whose lease runs longest
    /// first; of many the first max_readers_told. nullopt: it is not read, or not known.
    std::optional<std::vector<reader>> readers{};
    std::optional<std::size_t> reading{};  // how many read, as most servers have it
    std::string no_readers{};              // why they are not known: rights, or no readers there

    /// One of those who have a permit: semaphore.
    struct permit {
        holder who{};  // with its owner token, and how long its lease still runs
        std::uint32_t slot = 0;
    };
    /// Set where it is a semaphore, by their slots; of many the max_permits_told whose leases end
    /// first. held_by is then the one of them whose lease ends last. nullopt: it is none, or not
    /// known.
    std::optional<std::vector<permit>> permits{};
    std::optional<std::uint32_t>
        limit{};                         // how many permits there are; set where it is a semaphore
    std::optional<std::size_t> taken{};  // how many of them are; may be more than the limit, where
                                         // that was lowered

    /// Set where it is the lead of an election: who leads, in which term and with which value. Not
    /// while somebody who was granted the lead has not claimed it.
    std::optional<holdfast::leader> leader{};
    std::string no_leader{};  // why that is not known

    /// Set where there is a latch at the key, which nobody holds: held_by is unset then.
    std::optional<latch_view> latch{};

    struct waiter {
        /// As of a holder, but without the owner token: that is what the lock is going to be
        /// released by. foreign(): what stands there was not written by Holdfast.
        holder who{};
        std::optional<std::chrono::system_clock::time_point> since{};  // by the server's clock
        std::optional<std::chrono::milliseconds> waited{};             // by the same; never below 0
        bool ours = false;                                             // somebody in this process
    };
    /// Who stands in line at the server, first come, first; of many the first max_waiters_told.
    /// nullopt: not known. In a quorum it never is: there is no line.
    std::optional<std::vector<waiter>> waiters{};
    std::optional<std::size_t> waiting{};  // how many do; nullopt: not known
    std::string no_waiters{};              // why either is not known: rights, or no queue there
};

/// Who holds the key, if anybody, and who waits for it. errc::wrong_type if it is no string, unless
/// it is a semaphore or a latch, or Redisson holds it: the owner is then the `<uuid>:<thread>`
/// found there. This and list() need a server that can be written to only where the client has a
/// restart guard.
[[nodiscard]] lock_status inspect(client& through, std::string_view key);

/// For how long no majority grants this client a lock, because servers are new or have restarted,
/// and may have forgotten locks. Asks no server: it is what the client has heard since it
/// connected; in a Cluster the longest of the slots that it has used. nullopt: a majority may grant
/// locks, nothing was heard yet, or this client has no restart guard.
[[nodiscard]] std::optional<std::chrono::milliseconds> quarantine(client& through);

/// What messages call the servers, in the order of their URLs; those of a Cluster as it was last
/// seen, and its seeds before. Asks no server.
[[nodiscard]] std::vector<std::string> server_names(client& through);

/// Visits every lock and latch of Holdfast whose key matches the glob, in no order, at most once.
/// Takes many questions: SCAN, and a few bytes of every string that matches. Safe on a busy server;
/// may miss locks that come or go meanwhile. Tells how many wait for each, and not who:
/// lock_status::waiters is unset. `visit` may use the client; what it throws ends the visit.
using lock_visitor = std::function<void(const lock_status&)>;
void list(client& through, std::string_view glob, const lock_visitor& visit);

/// The same for every lock that any server has, with any prefix: look at these before you vouch for
/// one. Over connections of its own, which enlist no server. Throws unless every server answered.
/// Keys are shown with their prefix.
void list_everywhere(client& through, const lock_visitor& visit);

/// Releases a lock by its owner token, lease::owner(). already_lost: it is not that owner's. Never
/// unknown: it throws why no majority answered, and the release is repeated as that of a lease.
[[nodiscard]] release_result unlock(client& through, std::string_view key, std::string_view owner);

inline constexpr std::size_t max_reason_bytes = 1024;

/// Takes a lock away from `owner`, as inspect() shows it, another library's too. T1 does not hold
/// for its holder, who notices with its next renewal; T2 does. A holder that came since is left
/// alone, unless the lease was handed off to it within the process of `owner`. Leaves a note at
/// the servers, for 30 days, and a record in the log. Returns and throws as unlock(), and is not
/// repeated; errc::invalid_option for a reason that is empty or longer than max_reason_bytes.
[[nodiscard]] release_result force_unlock(client& through, std::string_view key,
                                          std::string_view owner, std::string_view reason);

/// The note of force_unlock().
struct forced_release {
    std::chrono::system_clock::time_point at{};
    std::string by{};       // user@host:pid
    std::string held_by{};  // user@host:pid:label, or what another library had there
    std::string reason{};
};

/// The last one for this key. nullopt: none that any server told of; also where none answered.
[[nodiscard]] std::optional<forced_release> last_forced(client& through, std::string_view key);

/// Extends a lock by its owner token to `ttl` from now, if that is later. Returns its new deadline,
/// as lease::valid_until(); nullopt: it is not that owner's any more. errc::invalid_option for a
/// ttl beyond min_ttl and max_ttl; errc::other_max_ttl.
[[nodiscard]] std::optional<clock::time_point> renew(client& through, std::string_view key,
                                                     std::string_view owner,
                                                     std::chrono::milliseconds ttl);

/// Lets a lock whose holder is done keep others out for exactly `how_long` from now: 1 ms to
/// longest_time, or errc::invalid_option. It may exceed max_ttl; the restart guard does not cover
/// what does. False: it is not that owner's any more. REQUIRES: nobody relies on its deadline.
[[nodiscard]] bool linger(client& through, std::string_view key, std::string_view owner,
                          std::chrono::milliseconds how_long);

/// Changes how many permits a semaphore has, for all who come from now on with that number; makes
/// the agreement where there is none yet. Who has a permit keeps it until it lets go, also beyond
/// the limit, and counts: nobody is granted one before fewer are left than there are permits. Who
/// stands in line with another number is told at once (errc::other_limit). Returns how many it had;
/// 0: there was none. errc::invalid_option below 1, above max_permits (holdfast/semaphore.hpp), and
/// on a quorum; errc::wrong_type where something else is at the key.
std::uint32_t set_limit(client& through, std::string_view key, std::uint32_t permits);

/// What came of a lock that examine() acquired and released.
struct trial_lock {
    std::error_code code{};  // none: acquired, extended and released
    std::string answer{};    // what the server said instead
};

/// What one Sentinel says of a master.
struct sentinel_report {
    std::string node{};
    std::string error{};       // no answer, or it does not know that master; nothing below is set
    std::string names{};       // where the master is: `10.0.0.1:6379`
    std::uint64_t quorum = 0;  // so many must agree that it is down
    std::uint64_t sentinels = 0;  // that it knows, itself included
    std::uint64_t replicas = 0;   // that it knows, those that are down too
};

/// A replica that the master has connected.
struct replica_report {
    std::string node{};
    bool online = false;
    std::chrono::seconds lag{};  // since it last confirmed anything
    std::uint64_t bytes_behind = 0;
    std::string error{};  // it could not be asked itself; nothing below is set then
    std::optional<std::chrono::milliseconds> clock_difference{};  // its wall clock against ours
    std::string eviction_policy{};                                // maxmemory-policy
};

/// A master, its replicas, and the Sentinels of a URL.
struct group_report {
    std::string master_name{};
    std::vector<sentinel_report> sentinels{};  // as the URL lists them
    std::vector<replica_report> replicas{};
    std::optional<std::uint64_t> min_replicas_to_write{};
    std::uint64_t members = 0;  // the master and its replicas, by what the Sentinels know
    std::uint64_t acks = 0;     // how many replicas have to acknowledge what this client is granted
    std::optional<std::uint64_t> agreed_on{};  // how many servers its clients have noted
};

/// What can be seen of one server. Unset or empty: it could not be found out; see `error`.
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
    std::string master{};           // of a replica: `10.0.0.1:6379`
    std::string mode{};             // "standalone", "sentinel", "cluster"
    std::string unsupported{};      // why no client of ours uses it; nothing below is set then
    std::string watched_master{};   // of a Sentinel: the redis+sentinel:// URL of what it watches
    std::string eviction_policy{};  // maxmemory-policy
    std::optional<std::uint64_t> maxmemory{};
    std::optional<bool> append_only{};
    std::string fsync{};  // appendfsync
    std::optional<bool> snapshots{};
    std::optional<std::chrono::milliseconds> clock_difference{};  // its wall clock against ours
    bool tracking = false;                      // tells waiters; otherwise they poll
    std::vector<std::string> missing_rights{};  // ACL rules that a lock needs: "+set", "~app:*"
    std::vector<std::string> queue_rights{};    // ACL rules that a wait queue needs: "&holdfast:*"
    std::vector<std::string> further_rights{};  // ACL rules that it can do without: doc/acl.md
    std::optional<trial_lock> trial{};          // unset for a replica, too
    std::optional<bool> enlisted{};             // a client with a restart guard knows its life
    std::optional<std::chrono::milliseconds> max_ttl{};     // that such clients agreed on
    std::optional<std::chrono::milliseconds> quarantine{};  // what is left of it
    std::string one_with{};  // a node of the quorum that is the same server, or replicates it
    std::optional<group_report> group{};  // of a Sentinel URL, also where no master was reached

    /// Of a master of a Cluster: its part in it. Each slot has a record of its own: enlisted,
    /// max_ttl and quarantine are those of one of its slots.
    struct shard_report {
        std::size_t slots = 0;     // that it serves
        std::size_t replicas = 0;  // that the Cluster knows, and that are not down
        std::size_t members = 0;   // servers of the shard, those that are down too; 0: not told
        std::size_t covered = 0;   // slots that any server serves: 16384, if it is whole
    };
    std::optional<shard_report> shard{};
};

/// Looks at one server after the other, over connections of its own, and acquires a trial lock on a
/// key that nobody else uses. Leaves nothing behind, and enlists no server. A server that cannot be
/// reached is reported, not thrown.
[[nodiscard]] std::vector<server_report> examine(client& through);

/// Notes at every server which life (run id, replication id) it lives, as a client with a restart
/// guard does when it connects; a life that is new begins with a quarantine. With `fresh`, vouches
/// for the servers: they vote at once, and this client's max_ttl is the one agreed on. REQUIRES of
/// whoever vouches: nobody relies on a lock that a server may have forgotten, or T1 is void.
/// Returns for each server how long its quarantine still is (zero: it votes); in a Cluster for each
/// master, of all of its slots, which takes a while for 16384 of them. Throws in the end,
/// where servers could not be enlisted: the code of the first, what() has all.
[[nodiscard]] std::vector<std::chrono::milliseconds> enlist(client& through, bool fresh);

/// The life that each server lives now, over connections that enlist none; empty: the ACL forbids
/// to ask. Throws unless every server answered. To vouch, call it before list_everywhere().
[[nodiscard]] std::vector<std::string> lives(client& through);

/// As enlist(through, true), for these lives only: a server that has restarted since lives() is not
/// vouched for, and errc::unsafe_server. An empty life stands for any. errc::invalid_option unless
/// there is one for each server.
[[nodiscard]] std::vector<std::chrono::milliseconds> vouch_for(
    client& through, const std::vector<std::string>& lives);

}  // namespace holdfast
