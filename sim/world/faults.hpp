#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::sim {

/// What can go wrong. Each seed switches on a random subset.
enum class fault : std::uint8_t {
    delay,          // messages take long now and then
    loss,           // a segment is retransmitted late, or a direction of a connection goes silent
    reset_before,   // a connection breaks and the message has not arrived
    reset_after,    // a connection breaks and the message has arrived; its answer will not
    partition,      // some clients and nodes do not hear each other, both ways
    deafness,       // the same one way
    crash_full,     // a node restarts with all its data
    crash_partial,  // a node restarts without its last second
    crash_empty,    // a node restarts with nothing
    node_pause,     // a node stops for a while
    client_pause,   // a client stops for up to 3 ttl, at any step
    clock_rate,     // clocks run fast or slow, within the bound that the guard assumes
    wall_skew,      // the servers' wall clocks disagree
    wall_jump,      // a server's wall clock jumps
    flushall,       // somebody empties a node
    script_flush,   // somebody empties a node's script cache
    slow_node,      // one node answers late, always
    deaf_tracking,  // pushes get lost, but for the one that says that everything is gone
    resync,         // a node was a replica for a moment: it lost its last second, and no connection
    refusal,        // a node answers every script with an error for a while, as while it is loading
    key_deleted,    // somebody deletes the lock by hand, on every node
    pieces,         // bytes come in any pieces, and are written in several
    client_kill,    // a server hangs up, as after CLIENT KILL
    permission,     // a server refuses one command for a while (NOPERM), in a handshake or later
    demotion,       // a node is a replica for a while, and in step by what was missing
    other_settings,  // a node restarts with other settings
    client_crash,    // a client of the only server vanishes, in line or when it is granted the lock
    // Of replication groups.
    failover,        // a replica is promoted although nothing is wrong with the master
    isolation,       // a server is cut off from the others and the Sentinels, mostly the master
    replica_lag,     // replicas get what their master has done late
    stale_sentinel,  // a Sentinel is down, hears of nothing, or of a promotion too early
};

inline constexpr std::size_t fault_count = 31;

constexpr bool is_of_groups(fault f) { return f >= fault::failover; }

std::string_view name_of(fault f);
std::optional<fault> fault_named(std::string_view name);

class fault_set {
  public:
    constexpr fault_set() = default;
    static constexpr fault_set all() { return fault_set{(one << fault_count) - 1U}; }

    [[nodiscard]] constexpr bool has(fault f) const { return (bits_ >> bit(f) & one) != 0; }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    constexpr void insert(fault f) { bits_ |= one << bit(f); }
    constexpr void erase(fault f) { bits_ &= ~(one << bit(f)); }
    friend constexpr fault_set operator&(fault_set a, fault_set b) {
        return fault_set{a.bits_ & b.bits_};
    }
    friend constexpr fault_set operator|(fault_set a, fault_set b) {
        return fault_set{a.bits_ | b.bits_};
    }
    friend constexpr bool operator==(fault_set, fault_set) = default;

    template <typename Visitor>
    void for_each(Visitor&& visit) const {
        for (std::size_t i = 0; i < fault_count; ++i) {
            if (has(static_cast<fault>(i))) visit(static_cast<fault>(i));
        }
    }

    /// "loss,reset_after"; "none" where there are none.
    [[nodiscard]] std::string to_string() const;
    static std::optional<fault_set> parse(std::string_view list);

  private:
    static constexpr std::uint64_t one = 1;
    constexpr explicit fault_set(std::uint64_t bits) : bits_(bits) {}
    static constexpr unsigned bit(fault f) { return static_cast<unsigned>(f); }
    std::uint64_t bits_ = 0;
};

}  // namespace holdfast::sim
