// What a seed decides of a replication group: a part of `sim/world/plan.hpp`.

#include <algorithm>
#include <array>

#include "net/acknowledging.hpp"
#include "sim/random.hpp"
#include "sim/world/plan.hpp"

namespace holdfast::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Half of the seeds have three servers.
std::size_t draw_members(random& chance) {
    constexpr std::array<std::size_t, 8> sizes{3, 3, 3, 3, 3, 2, 5, 5};
    return sizes[chance.below(sizes.size())];
}

// By an address alone nobody knows how large the group is.
replicas draw_acks(const group_plan& group, random& chance) {
    const auto chosen = chance.below(100);
    if (group.sentinels == 0) return replicas::exactly(group.members / 2);
    if (chosen < 8) return replicas::all();
    if (chosen < 14) return replicas::none();
    if (chosen < 18) return replicas::exactly(1);
    return replicas::majority();
}

void draw_members_and_sentinels(plan& p, random& chance) {
    constexpr std::array<std::size_t, 8> sentinels{3, 3, 3, 3, 3, 2, 1, 0};
    constexpr std::array<std::size_t, 4> backlogs{0, 3, 20, 1000};
    auto& group = p.group;
    group.members = draw_members(chance);
    group.sentinels = sentinels[chance.below(sentinels.size())];
    group.acks = draw_acks(group, chance);
    group.down_after = milliseconds(chance.between(100, 1000));
    group.slowest_switch = milliseconds(chance.between(100, 3000));
    group.longest_lag = p.timing.ttl * chance.between(1, 20) / 10;
    group.backlog = backlogs[chance.below(backlogs.size())];
    group.lasting = chance.per_mille(300);
}

// Short ones: after every fail-over there is a quarantine, and it has to end for anything to
// happen.
void draw_short_timing(plan& p, random& chance) {
    constexpr std::array<int, 5> ttls{300, 600, 1000, 1500, 2500};
    p.timing.ttl = milliseconds(ttls[chance.below(ttls.size())]);
    p.timing.guard_time =
        chance.per_mille(300) ? p.timing.ttl * chance.between(5, 30) / 100 : core::duration{0};
    p.timing.min_validity = chance.per_mille(300) ? p.timing.ttl / 10 : core::duration{0};
    p.max_ttl = p.timing.ttl * chance.between(10, 20) / 10;
    p.node_timeout =
        std::max<core::duration>(p.timing.ttl / chance.between(4, 10), milliseconds(40));
    p.shortest_wait = p.node_timeout / 4;
    p.longest_wait = p.timing.ttl * 2;
    p.notice = p.timing.ttl / chance.between(8, 20);
    p.longest_hold = p.timing.ttl * chance.between(1, 12) / 4;
    p.longest_think = milliseconds(chance.between(50, 1000));
    p.longest_outage = p.timing.ttl * chance.between(2, 12) / 4;
    p.longest_delay = p.timing.ttl * chance.between(1, 60) / 40;
}

// Clocks that disagree by more than the quarantine are outside of what T2 assumes: in one of five.
void draw_clocks(plan& p, random& chance) {
    if (chance.per_mille(200)) return;
    const auto drift = seconds(120) * p.rate_ppm / 500'000;
    const auto room = std::max<core::duration>(p.quarantine() * 9 / 10 - drift, milliseconds(2));
    p.wall_skew = std::min<core::duration>(p.wall_skew, room / 3);
    p.wall_jump = std::min<core::duration>(p.wall_jump, room / (3 * p.events_per_fault));
}

fault_set draw_group_faults(random& chance) {
    fault_set drawn;
    for (const auto each :
         {fault::failover, fault::isolation, fault::replica_lag, fault::stale_sentinel}) {
        if (chance.per_mille(500)) drawn.insert(each);
    }
    return drawn;
}

}  // namespace

// What makes a single server a replica for a while is a part of fail-overs here.
void draw_group(plan& p, fault_set allowed, random& chance) {
    const bool calm = chance.per_mille(30);
    const auto of_groups = draw_group_faults(chance);
    for (const auto each :
         {fault::resync, fault::demotion, fault::client_crash, fault::key_deleted}) {
        p.faults.erase(each);
    }
    p.faults = calm ? fault_set{} : (p.faults | of_groups) & allowed;
    p.nodes = 1;
    p.clients = static_cast<std::size_t>(chance.between(2, 4));
    p.restart_guard = p.tracking = true;
    p.onlookers = false;
    p.deletions = 0;
    draw_short_timing(p, chance);
    draw_members_and_sentinels(p, chance);
    draw_clocks(p, chance);
    p.length = seconds(chance.between(8, 20));
    p.troubled = p.length;
}

core::replication plan::replication() const {
    if (!grouped()) return {};
    const auto members = group.sentinels == 0 ? 0 : group.members;
    return {.members = members, .acks = net::acks_needed(group.acks, members).value_or(0)};
}

std::size_t plan::backers() const {
    return grouped() ? replication().acks + 1 : core::majority(nodes);
}

bool plan::fails_over() const {
    return grouped() &&
           (has(fault::failover) || has(fault::isolation) || has(fault::node_pause) || restarts());
}

// Ends of leases are times of day: at a server whose clock is behind they come later.
core::duration plan::return_bound() const {
    const auto sentinels_time = group.slowest_switch * 2 + group.down_after;
    const auto held = timing.ttl * 2 + longest_hold + total_jumps() + wall_skew * 2;
    return sentinels_time + quarantine() + timing.guard() + max_ttl + held + seconds(3);
}

}  // namespace holdfast::sim
