#pragma once

#include <algorithm>
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
///   quarantined   it may have forgotten locks; none is asked for     time, or somebody vouches
///                 until the last of them would have ended
///
/// The clock is watched across reconnects as long as the run_id stays the same: what breaks the
/// connection (a machine that was suspended or moved) is also what makes a clock jump.
namespace holdfast::core {

/// Where a server keeps the record of its life: whose it is, above which floor its fencing tokens
/// start, when its quarantine ends, how many replicas had acknowledged the life by then, and the
/// max_ttl and the size of the replication group that its clients agreed on.
inline constexpr std::string_view record_key = "holdfast:record";
/// What is written to ask the replicas whether they have all that came before. In a Cluster another
/// one, in a slot of the shard.
inline constexpr std::string_view acknowledged_key = "holdfast:ack:0";
/// What version 0.1 keeps instead; written along for its clients until the release after this one.
inline constexpr std::string_view life_key = "holdfast:life";
inline constexpr std::string_view marker_key = "holdfast:node";
inline constexpr std::string_view quarantine_key = "holdfast:quarantine";

/// What a server says of itself. Empty or false: it would not say.
struct server_facts {
    std::string run_id{};
    std::string replication_id{};         // shared by a master and its replicas
    std::string second_replication_id{};  // of the master that it was a replica of; zeros: empty
    std::string eviction_policy{};        // maxmemory-policy
    bool is_replica = false;
    bool tracking = false;  // it tells this connection when it is emptied
    friend bool operator==(const server_facts&, const server_facts&) = default;
};

/// Whether a server has been one master all the time. A master that was demoted, resynchronised and
/// promoted again keeps its run_id, and has lost locks. A first replica brings a new replication id
/// without a second one: that loses nothing.
bool same_life(const server_facts& before, const server_facts& now);

/// Its run_id and its replication id, to be compared as they are; empty: it does not tell.
std::string life_of(const server_facts& facts);

/// The replication group that a server is the master of, and how much of it has to know of whatever
/// counts.
struct replication {
    std::size_t members = 0;  // servers, it and those that are down included; 0: not known
    std::size_t acks = 0;     // of replicas; 0: none are asked for
    friend bool operator==(const replication&, const replication&) = default;
};

/// How many acknowledgements count in a group that has grown since its clients agreed on how many
/// they are: so many that whoever gives them, and the master, share a server with every majority of
/// what they agreed on, as well as of the group. Who asked for less than a majority gets no more.
constexpr std::size_t acks_when_grown(const replication& group, std::size_t from) {
    if (from == 0 || from >= group.members || group.acks < group.members / 2) return group.acks;
    return std::max(group.acks, group.members - from / 2 - 1);
}

/// What the record of a server's life says to a client that has just enlisted it.
struct enlistment {
    duration quarantine{};    // that is left; zero: none
    std::uint64_t floor = 0;  // no fencing token of an earlier life reaches it
    duration max_ttl{};       // that guarded clients agreed on; zero: there are none
    std::uint64_t time = 0;   // by the server's clock, in microseconds
    bool agreed = true;       // that max_ttl is ours
    bool begun = false;       // the quarantine, just now
    bool noted_only = false;  // no quarantine has begun: the replicas have to acknowledge the life
    std::size_t group = 0;    // larger than ours, that clients agreed on; 0: it is not, or not told
    std::size_t grown_from =
        0;  // how many servers clients agreed on, fewer than ours; 0: not fewer
    friend bool operator==(const enlistment&, const enlistment&) = default;
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
    enum class standing : std::uint8_t { unjudged, fit, unfit, voided, quarantined };
    enum class flaw : std::uint8_t { none, evicts, replica, untracked, other_max_ttl, other_group };

    explicit judge(const judge_policy& policy) : policy_(policy), clock_(policy.clock) {}

    /// The next connection may reach another life of the server, or another server.
    void disconnected();

    /// The handshake brought the server's facts.
    standing assess(const server_facts& facts, time_point now);

    /// It was enlisted: its record says this. REQUIRES: assessed. A quarantine that was heard of
    /// before gets shorter only: it is counted here, whatever the server's clock does meanwhile.
    /// Another floor is another quarantine, whoever began it: who draws tokens above the floor
    /// before its quarantine is over draws them ahead of the clock, and again when that gets there.
    void enlisted(const enlistment& found, time_point now);

    /// A heartbeat brought the server's TIME. Returns the jump, if there was one. While unjudged
    /// it says nothing: whose clock it is is not known.
    std::optional<duration> heartbeat(std::chrono::microseconds server, time_point sent,
                                      time_point received);

    [[nodiscard]] standing at(time_point now) const;
    [[nodiscard]] bool may_vote(time_point now) const { return at(now) == standing::fit; }
    [[nodiscard]] flaw reason() const { return flaw_; }
    [[nodiscard]] time_point voided_until() const { return voided_until_; }

    [[nodiscard]] time_point quarantined_until() const {
        return quarantined_until_.value_or(time_point::min());
    }

    /// No fencing token below it may be drawn.
    [[nodiscard]] std::uint64_t floor() const { return floor_; }

    /// Whether no vote may be asked of a server that may have forgotten locks, and for how long.
    [[nodiscard]] bool guards() const { return policy_.restart_guard; }
    [[nodiscard]] duration max_ttl() const { return policy_.max_ttl; }
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
    std::optional<time_point> quarantined_until_;  // since it was assessed
    std::uint64_t floor_ = 0;
};

}  // namespace holdfast::core
