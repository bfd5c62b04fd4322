#include "sim/world/plan.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "sim/random.hpp"

namespace holdfast::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

fault_set draw_faults(random& chance) {
    fault_set chosen;
    if (chance.per_mille(30)) return chosen;  // calm: nothing may go wrong at all
    const auto wanted = static_cast<unsigned>(chance.between(30, 600));
    for (std::size_t i = 0; i < fault_count; ++i) {
        const auto each = static_cast<fault>(i);
        if (each == fault::key_deleted) continue;   // T1 assumes that nobody does
        if (each == fault::client_crash) continue;  // draw_line()
        if (is_of_groups(each)) continue;           // draw_group()
        if (chance.per_mille(wanted)) chosen.insert(each);
    }
    return chosen;
}

std::size_t draw_nodes(random& chance) {
    constexpr std::array<std::size_t, 8> sizes{1, 1, 3, 3, 3, 3, 5, 7};
    return sizes[chance.below(sizes.size())];
}

core::duration draw_ttl(random& chance) {
    constexpr std::array<int, 6> choices{600, 1500, 2500, 4000, 7000, 10000};
    return milliseconds(choices[chance.below(choices.size())]);
}

void draw_settings(plan& p, random& chance) {
    p.nodes = draw_nodes(chance);
    p.clients = static_cast<std::size_t>(chance.between(2, p.nodes > 3 ? 2 : 3));
    p.workers = chance.per_mille(200) ? static_cast<std::size_t>(chance.between(2, 4)) : 1;
    p.crowds = p.workers > 1 && chance.per_mille(700);
    p.restart_guard = chance.per_mille(p.nodes > 1 ? 850 : 500);
    p.fencing = chance.per_mille(850);
    p.tracking = chance.per_mille(850) || p.restart_guard;  // which gets no votes otherwise
    p.onlookers = chance.per_mille(300);
    p.renewing = chance.per_mille(700);
    p.impatient = chance.per_mille(300);
}

void draw_timing(plan& p, random& chance) {
    p.timing.ttl = draw_ttl(chance);
    p.timing.guard_time =
        chance.per_mille(300) ? p.timing.ttl * chance.between(5, 40) / 100 : core::duration{0};
    p.timing.min_validity = chance.per_mille(300) ? p.timing.ttl / 10 : core::duration{0};
    p.max_ttl = p.timing.ttl * chance.between(1, 3);
    p.node_timeout = p.timing.ttl / chance.between(4, 20);
    p.shortest_wait = p.node_timeout / 4;
    p.longest_wait = p.timing.ttl * 2;
    p.notice = p.timing.ttl / chance.between(8, 20);
    p.fence_retention = chance.per_mille(100) ? core::duration{seconds(15)} : seconds(3600);
    p.longest_hold = std::min<core::duration>(p.timing.ttl * chance.between(1, 12) / 4, seconds(8));
    p.longest_think = milliseconds(chance.between(500, 5000));
}

void draw_sizes(plan& p, random& chance) {
    p.base_delay = std::chrono::microseconds(chance.between(20, 3000));
    p.longest_delay = p.timing.ttl * chance.between(1, 60) / 20;
    p.longest_outage = p.timing.ttl * chance.between(2, 12) / 4;
    p.wall_skew = milliseconds(chance.between(1, 30000));
    p.wall_jump = milliseconds(chance.between(1, 20000));
    // Two clocks at the opposite ends differ by what `drift_per_mille` allows.
    p.rate_ppm = std::int64_t{p.timing.drift_per_mille} * 500 - 20;
    p.events_per_fault = static_cast<unsigned>(chance.between(1, 4));
    p.rate_per_mille = static_cast<unsigned>(chance.between(1, 40));
}

// Faults that follow each other closely meet states that would be over by the next one.
void draw_crowding(plan& p, random& chance) {
    if (chance.per_mille(300)) p.troubled = seconds(chance.between(3, 10));
}

// A counter is ahead of its server's clock only while it is young: if it was started by a clock
// that has jumped back since, or by another server's that is ahead. Who loses its last writes then
// is told from who has not by the end of the quarantine alone. All of this must come together, and
// within the assumptions; left to itself it hardly ever does.
constexpr unsigned young_counters_per_mille = 30;

fault_set faults_of_young_counters() {
    fault_set needed;
    needed.insert(fault::crash_partial);
    needed.insert(fault::wall_jump);
    needed.insert(fault::wall_skew);
    return needed;
}

void draw_young_counters(plan& p, random& chance) {
    p.restart_guard = p.tracking = p.fencing = true;
    p.max_ttl = p.timing.ttl + seconds(chance.between(6, 12));
    p.events_per_fault = static_cast<unsigned>(chance.between(1, 2));
    const bool alone = p.nodes == 1;
    const auto drift = seconds(60) * p.rate_ppm / 200'000;  // until everybody has recovered
    const auto agreed = p.quarantine() * 9 / 10 - drift;
    p.wall_jump = alone ? agreed / p.events_per_fault : core::duration{0};
    p.wall_skew = alone ? core::duration{0} : agreed / 2;
    p.longest_think = milliseconds(chance.between(100, 400));
    p.longest_hold = std::min<core::duration>(p.longest_hold, milliseconds(400));
    p.longest_outage = seconds(1);
    p.troubled = seconds(chance.between(2, 5));
    p.length = seconds(30);  // busy, and long enough for every quarantine to end
}

// What a lease that is handed off may do wrong takes callers who come and go within milliseconds,
// and a lock that is lost to another process just then.
constexpr unsigned hand_offs_per_mille = 30;

void draw_hand_offs(plan& p, random& chance) {
    p.fencing = true;
    p.crowds = true;
    p.workers = static_cast<std::size_t>(chance.between(2, 4));
    p.deletions = static_cast<unsigned>(chance.between(20, 60));
    p.longest_hold = milliseconds(chance.between(2, 10));
    p.longest_think = milliseconds(chance.between(2, 40));
    p.impatient = chance.coin();
    p.shortest_wait = milliseconds(1);
    p.longest_wait = milliseconds(20);
    p.base_delay = std::min<core::duration>(p.base_delay, std::chrono::microseconds(500));
    p.length = seconds(8);  // busy
    p.troubled = p.length;
}

// Whether the push that a node was emptied is heeded in a handshake shows only if that falls into
// the round trip after the greeting. And a quarantine is begun anew, with another floor, by an
// enlisting of the node's last life that comes when others have met the next one. Who draws a token
// above that floor too early draws it again if the counter has expired meanwhile: it is kept for
// less time than the library would let it be.
constexpr unsigned interrupts_per_mille = 20;

fault_set faults_of_interrupts(fault_set drawn) {
    drawn.erase(fault::wall_jump);
    drawn.insert(fault::resync);
    return drawn;
}

void draw_interrupts(plan& p, random& chance) {
    p.interrupts = true;
    p.events_per_fault = static_cast<unsigned>(chance.between(2, 4));
    p.restart_guard = p.tracking = p.fencing = true;
    if (chance.per_mille(750)) p.nodes = 1;
    p.max_ttl = p.timing.ttl + seconds(chance.between(6, 10));
    p.longest_think = milliseconds(chance.between(100, 1000));
    p.longest_outage = seconds(6);
    p.length = seconds(20);  // after each interrupt a quarantine has to end
    if (p.nodes == 1) p.fence_retention = milliseconds(300);
}

// Who has another max_ttl is refused for good as long as there is a record that says so: nobody
// takes that away.
constexpr unsigned outsiders_per_mille = 30;

void draw_outsider(plan& p, random& chance) {
    if (!p.restart_guard) return;
    ++p.clients;
    p.outsider = chance.coin() ? outsider::untracked : outsider::other_max_ttl;
    if (p.outsider == outsider::untracked) return;
    p.faults.erase(fault::crash_empty);
    p.faults.erase(fault::flushall);
}

// The queue of the only server. Who crashes is one more than there would be, so that as many are
// left; and the lock is deleted by hand while somebody stands in line for longer than a moment.
void draw_fairness(plan& p, random& chance) {
    constexpr std::array choices{fairness::some, fairness::everybody};
    if (!chance.per_mille(300)) return;
    p.fair = choices[chance.below(choices.size())];
    if (chance.coin()) p.workers = std::max<std::size_t>(p.workers, 2 + chance.below(2));
}

void draw_line(plan& p, fault_set allowed, random& chance) {
    if (chance.per_mille(250)) p.uncalled = static_cast<unsigned>(chance.below(8));
    const auto mortals = chance.per_mille(300) ? 1 + chance.below(2) : 0;
    p.mortals = mortals;
    p.clients += mortals;
    if (mortals > 0) p.faults.insert(fault::client_crash);
    if (chance.per_mille(100)) {
        p.deletions = static_cast<unsigned>(chance.between(2, 6));
        p.faults.insert(fault::key_deleted);
    }
    p.faults = p.faults & allowed;
}

// Readers beside those who write. Where several callers of a process read, they do so at once.
constexpr unsigned shared_per_mille = 250;

void draw_sharing(plan& p, random& chance) {
    p.shared = true;
    p.reads_per_mille = static_cast<unsigned>(chance.between(300, 900));
    p.downgrades_per_mille = chance.coin() ? static_cast<unsigned>(chance.between(100, 600)) : 0;
    if (chance.per_mille(300)) p.workers = std::max<std::size_t>(p.workers, 2 + chance.below(2));
}

// Small jumps are within the assumptions if the lock-delay covers all of them together.
void tame_jumps(plan& p, random& chance) {
    if (chance.coin() || p.timing.guard_time == core::duration{0}) return;
    const auto to_spare = p.timing.guard_time - p.timing.ttl * p.timing.drift_per_mille / 500;
    p.wall_jump = std::max<core::duration>(to_spare / (2 * p.events_per_fault), milliseconds(1));
}

// Only now, so that a fault that is taken away leaves every other draw as it was.
void drop_unused_sizes(plan& p) {
    if (!p.has(fault::wall_skew)) p.wall_skew = core::duration{0};
    if (!p.has(fault::wall_jump)) p.wall_jump = core::duration{0};
    if (!p.has(fault::clock_rate)) p.rate_ppm = 0;
}

core::duration in_milliseconds(core::duration d) { return std::chrono::ceil<milliseconds>(d); }

// A plan in what the options of a client can say.
void round_up(plan& p) {
    p.node_timeout = in_milliseconds(std::max<core::duration>(p.node_timeout, p.base_delay * 8));
    p.timing.guard_time = in_milliseconds(p.timing.guard_time);
    p.timing.min_validity = in_milliseconds(p.timing.min_validity);
    p.notice = in_milliseconds(p.notice);
    p.max_ttl = in_milliseconds(p.max_ttl);
    if (!p.interrupts) p.fence_retention = std::max(p.fence_retention, p.max_ttl);
}

// Who else there is: readers, an outsider, replicas.
void draw_company(plan& p, fault_set allowed, topology shape, random& yet_more) {
    const bool plain = shape == topology::servers;
    auto sharing = random(p.seed).split(9);
    if (sharing.per_mille(shared_per_mille) && plain) draw_sharing(p, sharing);
    if (yet_more.per_mille(outsiders_per_mille) && plain) draw_outsider(p, yet_more);
    auto among_replicas = random(p.seed).split(11);
    if (shape == topology::group) draw_group(p, allowed, among_replicas);
    auto of_kinds = random(p.seed).split(12);
    if (shape == topology::kinds) draw_kind(p, allowed, of_kinds);
}

}  // namespace

plan draw_plan(std::uint64_t seed, fault_set allowed, topology shape) {
    const bool plain = shape == topology::servers;
    plan p;
    p.seed = seed;
    auto chance = random(seed).split(1);
    auto more = random(seed).split(4);
    auto still_more = random(seed).split(5);
    auto yet_more = random(seed).split(6);
    auto in_line = random(seed).split(8);
    const bool young = more.per_mille(young_counters_per_mille) && plain;
    const bool busy = !young && still_more.per_mille(hand_offs_per_mille) && plain;
    const bool interrupted = !young && !busy && plain && yet_more.per_mille(interrupts_per_mille);
    p.faults = draw_faults(chance);
    if (young) p.faults = p.faults | faults_of_young_counters();
    if (busy) p.faults.insert(fault::key_deleted);
    if (interrupted) p.faults = faults_of_interrupts(p.faults);
    const bool calm = p.faults.empty();
    p.faults = p.faults & allowed;
    draw_settings(p, chance);
    draw_timing(p, chance);
    draw_sizes(p, chance);
    tame_jumps(p, chance);
    draw_crowding(p, more);
    if (young) draw_young_counters(p, more);
    if (busy) draw_hand_offs(p, still_more);
    if (interrupted) draw_interrupts(p, yet_more);
    if (p.nodes == 1 && plain) draw_fairness(p, in_line);
    const bool usual = !young && !busy && !interrupted && !calm && plain;
    if (p.nodes == 1 && usual) draw_line(p, allowed, in_line);
    draw_company(p, allowed, shape, yet_more);
    drop_unused_sizes(p);
    round_up(p);
    return p;
}

bool plan::restarts() const {
    return has(fault::crash_full) || has(fault::crash_partial) || has(fault::crash_empty);
}

bool plan::forgets() const {
    return has(fault::crash_partial) || has(fault::crash_empty) || has(fault::flushall) ||
           has(fault::resync) || fails_over();
}

core::duration plan::wall_spread() const {
    const auto drift = (length + recovery_bound()) * rate_ppm * 2 / 1'000'000;
    const auto jumps = total_jumps();
    return servers() == 1 ? jumps : wall_skew * 2 + drift + jumps;
}

bool plan::promises_exclusion() const {
    if (has(fault::key_deleted) || (forgets() && !restart_guard)) return false;
    if (fails_over() && !acknowledged_by_majority()) return false;
    return clocks_keep_to_guard();
}

bool plan::clocks_keep_to_guard() const {
    const auto drift = timing.ttl * timing.drift_per_mille / 1000 + milliseconds(2);
    return wall_jump == core::duration{0} || drift + total_jumps() <= timing.guard();
}

// A counter that is lost starts again at the wall clock. That is above every token drawn before
// if more time has passed since than the clocks disagree by: the quarantine makes sure of it.
bool plan::promises_token_order() const {
    if (check_token_order_anyway) return true;
    const auto spread = wall_spread();
    if (spread >= fence_retention) return false;
    if (!forgets() && !restarts()) return true;
    if (has(fault::resync) && !tracking) return false;  // nobody is told of it
    if (fails_over() && !acknowledged_by_majority()) return false;
    return restart_guard ? spread < quarantine() : spread == core::duration{0};
}

core::duration plan::longest_journey() const {
    auto longest = base_delay * 4;
    if (has(fault::delay)) longest += longest_delay;
    if (has(fault::loss)) longest += longest_delay;
    if (has(fault::slow_node)) longest += node_timeout * 2;
    if (has(fault::partition) || has(fault::deafness)) longest += longest_outage * 2;
    if (has(fault::node_pause)) longest += longest_outage * 2;
    if (has(fault::refusal)) longest += longest_outage * 2;
    if (has(fault::client_pause)) longest += timing.ttl * 3;
    return longest;
}

core::duration plan::recovery_bound() const {
    const auto callers = static_cast<std::int64_t>(clients * workers);
    const auto replaced = grouped() ? return_bound() : core::duration{0};
    const auto forgotten = (quarantine() + max_ttl) * 2;
    const auto held = timing.ttl * 2 + total_jumps() + longest_hold;
    const auto turns = (timing.ttl / 4 + seconds(2)) * callers;
    return replaced + forgotten + held + turns + longest_journey() * 2 + longest_outage +
           seconds(20);
}

// Who has left the line, which the only server has not heard, may yet be granted the lock there.
core::duration plan::orphan_bound() const {
    const auto in_line = nodes == 1 ? seconds(12) : seconds(0);
    return in_line + timing.ttl + timing.ttl / 20 + longest_journey() * 2 + total_jumps() +
           longest_outage + (grouped() ? return_bound() : core::duration{0}) + seconds(1);
}

namespace {

std::string describe(const group_plan& group) {
    if (group.members == 0) return {};
    constexpr std::array<const char*, 4> names{"none", "majority", "all", "exactly "};
    const auto acks =
        std::string(names[static_cast<std::size_t>(group.acks.how())]) +
        (group.acks.how() == replicas::kind::exactly ? std::to_string(group.acks.count())
                                                     : std::string());
    return ", a group of " + std::to_string(group.members) + " with " +
           (group.sentinels == 0 ? "an address that moves"
                                 : std::to_string(group.sentinels) + " sentinels") +
           ", acknowledged by " + acks + ", backlog " + std::to_string(group.backlog) +
           (group.lasting ? ", some of it for good" : "");
}

}  // namespace

std::string plan::to_string() const {
    const auto in_ms = [](core::duration d) {
        return std::to_string(std::chrono::duration_cast<milliseconds>(d).count()) + "ms";
    };
    std::ostringstream out;
    out << "seed " << seed << ": nodes " << nodes << ", clients " << clients << " x " << workers
        << ", ttl " << in_ms(timing.ttl) << ", guard " << in_ms(timing.guard()) << ", max_ttl "
        << in_ms(max_ttl) << ", node_timeout " << in_ms(node_timeout)
        << (fencing ? ", fencing" : ", no fencing")
        << (restart_guard ? ", restart guard" : ", no restart guard")
        << (tracking ? ", tracking" : ", polling") << (renewing ? ", renewing" : ", fixed lease")
        << (fair == fairness::nobody ? ""
            : fair == fairness::some ? ", some fair"
                                     : ", fair")
        << (shared ? ", some read" : "") << (uncalled != 0 ? ", some not called" : "")
        << (impatient ? ", impatient" : "") << (crowds ? ", crowds" : "")
        << (interrupts ? ", interrupts" : "") << (outsider != outsider::none ? ", an outsider" : "")
        << describe(group) << describe(kind) << "\n  faults: " << faults.to_string()
        << "\n  checked: " << (promises_exclusion() ? "exclusion, " : "")
        << (promises_token_order() ? "token order, " : "")
        << "ownership, orphans, notice, recovery";
    return out.str();
}

}  // namespace holdfast::sim
