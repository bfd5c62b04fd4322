#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "holdfast/label.hpp"
#include "holdfast/log.hpp"
#include "holdfast/replicas.hpp"

namespace holdfast {

/// Limits. Options are checked when they are given: beyond these limits, and those beside each
/// option, is errc::invalid_option, and the message says what would be valid. A duration of which
/// nothing else is said lies between zero and longest_time. All limits: doc/design.md, section 8.
inline constexpr std::chrono::milliseconds min_ttl{50};
inline constexpr std::chrono::hours longest_max_ttl{24};
inline constexpr std::chrono::hours longest_time{24 * 365};
inline constexpr std::size_t max_key_bytes = 64 * 1024;  // with the prefix: errc::invalid_key
inline constexpr std::size_t max_keys = 16;              // of a multi_mutex: errc::invalid_key
inline constexpr unsigned max_drift_per_mille = 100;
inline constexpr std::size_t max_replica_acks = 100;

/// Files are read when the client is made, and again before each connection if they have changed:
/// they may be replaced at any time. While they are invalid, connecting fails with
/// errc::invalid_option.
struct tls_options {
    std::string ca_file{};           // PEM; empty: the system's
    std::string certificate_file{};  // PEM, for mutual TLS
    std::string key_file{};          // PEM; empty: in certificate_file
    std::string server_name{};       // for SNI and verification; empty: the URL's host
    bool verify = true;              // chain and host name
};

/// How to reach the servers, and how far to trust them.
///
/// One URL is one server, or the master that some Sentinels name. Several, an odd number up to 15,
/// are a quorum of independent masters: a lock needs the votes of a majority, and any minority may
/// fail. redis+cluster:// names servers of one Redis Cluster, which finds the others; it cannot be
/// part of a quorum. The query of a URL may give some settings, which then override those here:
/// doc/urls.md.
///
/// REQUIRES, for T1: all clients that lock a key have the same servers, database and prefix, and
/// with a restart guard the same max_ttl (errc::other_max_ttl).
struct options {
    /// redis://, rediss://, unix://, redis+sentinel://, redis+cluster://, ...; see doc/urls.md
    std::vector<std::string> urls{};

    std::string user{};      // where the URL has none
    std::string password{};  // where the URL has none
    tls_options tls{};

    std::string prefix{};  // put before every key
    std::string label{};   // shown to whoever asks who holds a lock; up to max_label_bytes
    /// CLIENT SETNAME. Printable ASCII characters without spaces; empty: no name.
    std::string client_name = "holdfast";

    /// For one answer of one server. Zero: 1 s, or 200 ms in a quorum.
    std::chrono::milliseconds node_timeout{0};
    /// For connecting, TLS and the handshake together, and for asking Sentinels before. Above zero.
    std::chrono::milliseconds connect_timeout{1000};
    /// How long a waiting acquire goes on while no majority can be reached: see mutex.
    std::chrono::milliseconds patience{5000};

    /// The longest ttl of any lease, and so how long a server that may have forgotten leases is not
    /// asked for votes. From min_ttl to longest_max_ttl.
    std::chrono::milliseconds max_ttl{60'000};
    /// How long an idle fencing counter is kept. After that the server's wall clock orders tokens:
    /// T2 assumes that it is never set back by more than this. At least max_ttl.
    std::chrono::milliseconds fence_retention{3'600'000};
    /// The least acquire_options::guard_time of every lock of this client.
    std::chrono::milliseconds guard_time{0};
    /// T1 assumes that client and server clocks differ in rate by no more than this many
    /// thousandths. Up to max_drift_per_mille.
    unsigned drift_per_mille = 10;

    /// Ask a server that has restarted, was flushed or was promoted for no votes until every
    /// earlier lease is over; also watch its clock for jumps. Unset: on for a quorum, behind
    /// Sentinel, for a Cluster (there for each slot, also one that comes from another shard), and
    /// where replicas have to acknowledge what is granted; off for one server, whose
    /// restart without its data then voids T1.
    std::optional<bool> restart_guard{};
    /// So many replicas of a server have to acknowledge a grant, a renewal, a fencing token and the
    /// beginning of a quarantine before these count: what keeps T1 and T2 across fail-overs, with
    /// the restart guard (doc/guarantees.md). Costs a second connection to each such server, and a
    /// round trip to its replicas, which callers share. An acquire that is not acknowledged within
    /// node_timeout fails with errc::unreachable, and is released. Unset: a majority where the size
    /// of the replication group is known, in a Cluster that of a key's shard; none at the address
    /// of a single server, where majority() and all() are refused (errc::invalid_option). Up to
    /// max_replica_acks.
    std::optional<replicas> replica_acks{};
    /// Accept servers that may evict lock keys (any maxmemory-policy but noeviction). Voids T1.
    bool allow_eviction = false;

    /// Callers that wait may let other threads run a few times before they sleep, where that was of
    /// use lately: up to twice the hand-offs among threads of one process, for up to 0.8 of a core.
    /// False: they sleep at once.
    bool spin = true;

    log_callback log{};
};

/// How one lock is acquired and kept.
struct acquire_options {
    std::chrono::milliseconds ttl{30'000};  // from min_ttl to the client's max_ttl

    /// Renew it in the background, every ttl/3 or, where a long loss_notice leaves less, often
    /// enough for two attempts before it. False: it ends after its ttl.
    bool renew = true;
    /// Caps the whole hold, renewals and extend() included. Zero: no cap.
    std::chrono::milliseconds max_hold{0};

    /// Draw a fencing token. False: an acquire is a plain SET NX PX, token() is 0, no T2.
    bool fencing = true;
    /// Lock-delay: the deadline lies this long before the servers let the next one in; where that
    /// is longer, drift_per_mille of the ttl and 2 ms. Below ttl/2.
    std::chrono::milliseconds guard_time{0};
    /// An acquire that takes so long that less validity than this is left fails. Zero: loss_notice.
    /// Below the ttl less that delay.
    std::chrono::milliseconds min_validity{0};
    /// How long before the deadline stop_token() stops. Zero: ttl/6. Below the ttl less that delay.
    std::chrono::milliseconds loss_notice{0};

    /// Wait for the answer to the release in unlock() and destructors. False: it is sent, but may
    /// never leave if the process ends at once.
    bool await_release = true;

    /// First come, first served among all callers of all processes that ask for it, in the order in
    /// which they reach the server; the lock is never handed off within a process ahead of one who
    /// came earlier elsewhere. Without it, the threads of a process stand in line as one, and may
    /// hand the lock to each other up to 16 times, for 20 ms at most, before the next process has
    /// it. A waiter that is dead, or stands still, holds the others up for 2 s at most. Refused
    /// where several servers vote.
    bool fair = false;

    label_text label{};  // empty: the client's
};

/// What holdfast/label.hpp is for: no member may change that.
static_assert(std::is_trivially_copyable_v<acquire_options>);

}  // namespace holdfast
