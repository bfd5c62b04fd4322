#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/clock_watch.hpp"
#include "core/timing.hpp"

/// Decides whether a server's vote may be counted: from what it says of itself when we connect,
/// and from how its clock behaves afterwards.
///
///   standing      meaning                                            leaves it by
///   unjudged      connected, facts not read                          assess()
///   fit           votes                                              disconnected(), a clock jump
///   unfit         its settings can lose locks; `reason()` says how   assess() after a reconnect
///   voided        its clock jumped; keys may die early until the     time, or a reconnect after it
///                 last lease of before is over
///
/// The clock is watched across reconnects as long as the run_id stays the same: what breaks the
/// connection (a machine that was suspended or moved) is also what makes a clock jump.
namespace holdfast::core {

/// Where a server keeps which life it is in, and since when: fencing counters of an earlier one may
/// have been rolled back; the run_id of the life in which it was last enlisted; and, while it may
/// have forgotten locks, the reason why it grants none.
inline constexpr std::string_view life_key = "holdfast:life";
inline constexpr std::string_view marker_key = "holdfast:node";
inline constexpr std::string_view quarantine_key = "holdfast:quarantine";

/// What a server says of itself in the handshake. Empty or false: it would not say.
struct server_facts {
    std::string run_id{};
    std::string replication_id{};   // shared by a master and its replicas
    std::string eviction_policy{};  // maxmemory-policy
    bool is_replica = false;
    bool fsync_always = false;  // appendonly yes and appendfsync always: survives a crash
    friend bool operator==(const server_facts&, const server_facts&) = default;
};

/// Two nodes of a quorum that are not independent, so that their votes are one.
struct conflict {
    std::size_t first = 0;
    std::size_t second = 0;
    enum class kind : std::uint8_t { same_server, replica } how = kind::same_server;
    friend bool operator==(const conflict&, const conflict&) = default;
};

/// Looks for one among the nodes whose facts are known (run_id not empty).
std::optional<conflict> find_conflict(std::span<const server_facts> nodes);

struct judge_policy {
    bool allow_eviction = false;
    bool restart_guard = false;
    duration max_ttl{};
    duration guard_time{};
    clock_watch::config clock{};
};

class judge {
  public:
    enum class standing : std::uint8_t { unjudged, fit, unfit, voided };
    enum class flaw : std::uint8_t { none, evicts, replica };

    explicit judge(const judge_policy& policy) : policy_(policy), clock_(policy.clock) {}

    /// The next connection may reach another life of the server, or another server.
    void disconnected();

    /// The handshake brought the server's facts.
    standing assess(const server_facts& facts, time_point now);

    /// A heartbeat brought the server's TIME. Returns the jump, if there was one. While unjudged
    /// it says nothing: whose clock it is is not known.
    std::optional<duration> heartbeat(std::chrono::microseconds server, time_point sent,
                                      time_point received);

    [[nodiscard]] standing at(time_point now) const;
    [[nodiscard]] bool may_vote(time_point now) const { return at(now) == standing::fit; }
    [[nodiscard]] flaw reason() const { return flaw_; }
    [[nodiscard]] time_point voided_until() const { return voided_until_; }

    /// Whether the server must be asked to compare its restart marker, and to refuse its vote
    /// for `quarantine()` where it finds that it has forgotten.
    [[nodiscard]] bool guards(const server_facts& facts) const {
        return policy_.restart_guard && !facts.fsync_always;
    }
    [[nodiscard]] duration quarantine() const {
        return policy_.max_ttl +
               timing{.ttl = policy_.max_ttl, .guard_time = policy_.guard_time}.guard();
    }

  private:
    judge_policy policy_;
    clock_watch clock_;
    standing standing_ = standing::unjudged;
    flaw flaw_ = flaw::none;
    std::string run_id_;  // whose clock is being watched
    time_point voided_until_ = time_point::min();
};

}  // namespace holdfast::core
