#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "holdfast/label.hpp"
#include "holdfast/log.hpp"

namespace holdfast {

/// What options may be, each with a test at its edge: these numbers, and what stands beside the
/// option. Options are checked when they are given; what is wrong throws std::system_error with
/// errc::invalid_option and says what would be right. The limits of the protocol and the network
/// are in doc/design.md, section 8.
inline constexpr std::chrono::milliseconds min_ttl{50};
inline constexpr std::chrono::hours longest_max_ttl{24};
inline constexpr std::chrono::hours longest_time{24 * 365};  // of every other duration
inline constexpr std::size_t max_key_bytes = 64 * 1024;
inline constexpr unsigned max_drift_per_mille = 100;

/// Files are read when the client is made, and before a connection is made if they have changed
/// since: they may be replaced while the client is used. A connection keeps what it was made with.
/// While the files are no good, connecting fails with errc::invalid_option.
struct tls_options {
    std::string ca_file{};           // PEM; empty: the system's
    std::string certificate_file{};  // PEM, for mutual TLS
    std::string key_file{};          // PEM, with certificate_file
    std::string server_name{};       // for SNI and verification; empty: the URL's host
    bool verify = true;              // chain and host name
};

/// How to reach the servers, and how far to trust them.
///
/// One URL is one server. Several, an odd number up to 15, are a quorum of independent masters:
/// every lock is voted on by all of them, and any minority may fail. Some of the settings may be
/// given in a URL's query instead: doc/urls.md.
struct options {
    std::vector<std::string> urls{};  // redis://, rediss://, unix:// ; see doc/urls.md

    std::string user{};      // where the URL has none
    std::string password{};  // where the URL has none
    tls_options tls{};

    std::string prefix{};  // put before every key; both together up to max_key_bytes
    std::string label{};   // shown to whoever asks who holds a lock; up to max_label_bytes
    /// CLIENT SETNAME. Printable ASCII characters without spaces; empty: no name.
    std::string client_name = "holdfast";

    /// For one answer of one node. Zero: one second, or 200 ms for each node of a quorum. The first
    /// acquire of a client waits as long for a node that is silent: all are known before any votes.
    std::chrono::milliseconds node_timeout{0};
    /// For connecting, TLS and the handshake together. Above zero.
    std::chrono::milliseconds connect_timeout{1000};
    /// How long a waiting acquire goes on while no server can be reached.
    std::chrono::milliseconds patience{5000};

    /// The longest ttl that any lease of any client may have: what a forgetful server waits for.
    /// From min_ttl to longest_max_ttl. It bounds every ttl, without a restart guard, too.
    std::chrono::milliseconds max_ttl{60'000};
    /// How long an idle fencing counter is kept. Long against any backward step of a server's
    /// wall clock, which is what the order of tokens rests on when a counter has expired. At least
    /// max_ttl.
    std::chrono::milliseconds fence_retention{3'600'000};
    /// Lock-delay for every lock of this client: see acquire_options::guard_time.
    std::chrono::milliseconds guard_time{0};
    /// Bound on the rate error between two clocks, in thousandths. Up to max_drift_per_mille.
    unsigned drift_per_mille = 10;

    /// A server that has restarted grants nothing until every earlier lease is over. Unset: on
    /// for a quorum, off for one server.
    std::optional<bool> restart_guard{};
    /// Allow servers that may evict lock keys (any maxmemory-policy but noeviction).
    bool allow_eviction = false;

    log_callback log{};
};

/// How one lock is taken and kept. A ttl that is left at its default is held against the client's
/// max_ttl where it is used, not before.
struct acquire_options {
    std::chrono::milliseconds ttl{30'000};  // from min_ttl to the client's max_ttl

    /// Renewed in the background while held, every ttl/3, or twice before loss_notice where that
    /// leaves less. False: a fixed lease.
    bool renew = true;
    /// Caps the whole hold, renewals included. Zero: no cap.
    std::chrono::milliseconds max_hold{0};

    /// Draw a fencing token. Without it an acquire is a plain SET NX PX, and token() is 0.
    bool fencing = true;
    /// Lock-delay: the holder stops believing at least this long before the servers let the
    /// next one in. Below ttl/2.
    std::chrono::milliseconds guard_time{0};
    /// An acquire that would leave less validity than this counts as failed. Zero: loss_notice.
    /// Below what the ttl leaves after its guard: guard_time, or drift_per_mille of the ttl and 2
    /// ms if that is longer.
    std::chrono::milliseconds min_validity{0};
    /// How long before the deadline a loss is announced by stop_token(). Zero: ttl/6. Bounded as
    /// min_validity.
    std::chrono::milliseconds loss_notice{0};

    /// Wait for the server's answer in unlock() and destructors. False: it is sent, not awaited.
    /// That of a lost lease never is.
    bool await_release = true;

    label_text label{};  // instead of the client's
};

/// What holdfast/label.hpp is for: no member may change that.
static_assert(std::is_trivially_copyable_v<acquire_options>);

}  // namespace holdfast
