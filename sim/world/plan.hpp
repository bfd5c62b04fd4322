#pragma once

#include <cstdint>
#include <string>

#include "core/judge.hpp"
#include "core/node_set.hpp"
#include "core/timing.hpp"
#include "holdfast/replicas.hpp"
#include "sim/world/clocks.hpp"
#include "sim/world/faults.hpp"

namespace holdfast::sim {
class random;
}

/// Everything that is fixed when a run begins: sizes, settings and which faults may happen, all
/// drawn from the seed. Swarm testing: most seeds have few faults, so that each is seen alone, in
/// pairs, and with the rest of the system busy.
namespace holdfast::sim {

/// A client beside the others that must not vote where the guard is on.
enum class outsider : std::uint8_t {
    none,
    untracked,      // nobody tells it when a node is emptied
    other_max_ttl,  // not the one that the others agreed on
};

/// Whose callers stand in line at the only server one by one.
enum class fairness : std::uint8_t { nobody, some, everybody };

/// What the servers are to each other, and what is wanted of them. Each is a family of seeds.
enum class topology : std::uint8_t {
    servers,  // one, or the nodes of a quorum
    group,    // a master and its replicas
    kinds,    // one, or a quorum, with locks of the kinds that the others do not know
};

/// What callers want where it is no mutex, and nobody reads: sim/world/kind_plan.cpp.
enum class other_kind : std::uint8_t { none, semaphore, several, election, latch };

struct kind_plan {
    other_kind which = other_kind::none;
    std::uint32_t permits = 0;  // of the semaphore; of a latch: how many it takes to open it
    unsigned observers = 0;     // of the election: a bit for each client that has one
};

/// A replication group, whose master has the only vote: sim/world/group.hpp.
struct group_plan {
    std::size_t members = 0;    // 0: there is none
    std::size_t sentinels = 0;  // 0: clients have an address that moves to whoever is promoted
    replicas acks = replicas::majority();
    core::duration down_after{};      // until a master that says nothing is replaced
    core::duration slowest_switch{};  // until all have heard of the new one that can be reached
    core::duration longest_lag{};     // of a replica, with `replica_lag`
    std::size_t backlog = 1000;       // transactions that a server keeps
    bool lasting = false;             // some of what is wrong in a minority outlasts all healing
};

struct plan {
    std::uint64_t seed = 0;
    fault_set faults{};
    group_plan group{};
    kind_plan kind{};

    std::size_t nodes = 3;
    std::size_t clients = 3;  // the outsider is the last of them
    sim::outsider outsider = sim::outsider::none;
    std::size_t workers = 1;  // per client
    std::size_t mortals = 0;  // of the clients, the last before the outsider: they may crash
    unsigned uncalled = 0;    // a bit for each client that may never subscribe
    fairness fair = fairness::nobody;
    bool shared = false;                // some only want to read
    unsigned reads_per_mille = 0;       // of what they ask for
    unsigned downgrades_per_mille = 0;  // of those who write
    bool fencing = true;
    bool restart_guard = true;
    bool onlookers = false;  // a client without the guard is the first to meet a restarted node
    bool tracking = true;
    bool renewing = true;
    bool impatient = false;   // callers give up now and then
    bool interrupts = false;  // nodes that are emptied are so while a client connects
    bool crowds = false;      // callers of a process come together, and half of them for moments

    core::timing timing{};
    core::duration max_ttl{};
    core::duration node_timeout{};
    core::duration notice{};
    core::duration fence_retention{};
    core::duration longest_hold{};
    core::duration longest_think{};
    core::duration shortest_wait{};  // of the impatient
    core::duration longest_wait{};

    core::duration base_delay{};      // one way, on a good day
    core::duration longest_delay{};   // with `delay`
    core::duration longest_outage{};  // of a partition, a pause, a restart
    core::duration wall_skew{};       // of each node, either way
    core::duration wall_jump{};       // of each jump, either way
    std::int64_t rate_ppm = 0;        // of each clock, either way
    unsigned events_per_fault = 4;
    unsigned deletions = 0;       // of the lock, with `key_deleted`
    unsigned rate_per_mille = 5;  // of messages hit by loss and resets

    // A heartbeat a second takes much of a run's time. Of a minute, a quarter is as full of events,
    // if nobody thinks for longer than that.
    core::duration length = std::chrono::seconds(15);
    core::duration troubled = length;       // incidents happen within the first of it
    bool check_token_order_anyway = false;  // to show what lies outside of the assumptions

    [[nodiscard]] bool has(fault f) const { return faults.has(f); }

    [[nodiscard]] bool grouped() const { return group.members > 0; }
    [[nodiscard]] bool of_other_kind() const { return kind.which != other_kind::none; }
    [[nodiscard]] topology shape() const {
        return grouped() ? topology::group : of_other_kind() ? topology::kinds : topology::servers;
    }
    [[nodiscard]] std::size_t servers() const { return grouped() ? group.members : nodes; }
    /// They, and the Sentinels.
    [[nodiscard]] std::size_t machines() const { return servers() + group.sentinels; }
    /// There is one server, for ever.
    [[nodiscard]] bool alone() const { return nodes == 1 && !grouped(); }
    /// What clients know of the group, and how much of it has to acknowledge what counts.
    [[nodiscard]] core::replication replication() const;
    /// How many servers must have known of what counts.
    [[nodiscard]] std::size_t backers() const;
    /// So many that no other master can have as many.
    [[nodiscard]] bool acknowledged_by_majority() const {
        return grouped() && replication().acks >= group.members / 2;
    }
    /// A master may be replaced.
    [[nodiscard]] bool fails_over() const;
    /// After healing, somebody must have had the lock by then, where a master was replaced.
    [[nodiscard]] core::duration return_bound() const;

    [[nodiscard]] bool is_outsider(std::size_t client) const {
        return outsider != sim::outsider::none && client + 1 == clients;
    }
    [[nodiscard]] std::size_t first_mortal() const {
        return clients - mortals - (outsider != sim::outsider::none ? 1 : 0);
    }
    [[nodiscard]] bool may_subscribe(std::size_t client) const {
        return (uncalled >> client & 1U) == 0;
    }
    [[nodiscard]] bool is_fair(std::size_t caller) const {
        return fair == fairness::everybody || (fair == fairness::some && caller % 2 == 0);
    }
    [[nodiscard]] bool tracked(std::size_t client) const {
        return tracking && !(is_outsider(client) && outsider == sim::outsider::untracked);
    }
    [[nodiscard]] core::duration max_ttl_of(std::size_t client) const {
        const bool other = is_outsider(client) && outsider == sim::outsider::other_max_ttl;
        return other ? max_ttl + timing.ttl : max_ttl;
    }

    /// Faults by which a node may forget what it was told.
    [[nodiscard]] bool forgets() const;
    [[nodiscard]] bool restarts() const;
    [[nodiscard]] core::duration quarantine() const { return max_ttl + timing.guard_time; }

    /// Of a server's clock, all together.
    [[nodiscard]] core::duration total_jumps() const { return wall_jump * events_per_fault; }

    /// The most by which two readings of the servers' wall clocks can disagree.
    [[nodiscard]] core::duration wall_spread() const;

    /// Whether the faults are within what each promise assumes (doc/testing.md).
    [[nodiscard]] bool promises_exclusion() const;
    /// No wall clock jumps by more than the guard provides for.
    [[nodiscard]] bool clocks_keep_to_guard() const;
    [[nodiscard]] bool promises_token_order() const;

    /// The longest that a message can be under way, everything included.
    [[nodiscard]] core::duration longest_journey() const;
    /// After healing, everybody must have had the lock once within this time.
    [[nodiscard]] core::duration recovery_bound() const;
    /// How long a key may outlive its attempt.
    [[nodiscard]] core::duration orphan_bound() const;

    [[nodiscard]] std::string to_string() const;
};

const char* name_of(topology shape);

/// `allowed` restricts what the seed would switch on.
plan draw_plan(std::uint64_t seed, fault_set allowed = fault_set::all(),
               topology shape = topology::servers);

/// Makes a plan of a group out of one that was drawn for servers: sim/world/group_plan.cpp.
void draw_group(plan& p, fault_set allowed, random& chance);

/// The same of one whose callers want a lock of another kind: sim/world/kind_plan.cpp.
void draw_kind(plan& p, fault_set allowed, random& chance);
std::string describe(const kind_plan& kind);

}  // namespace holdfast::sim
