// What a seed decides where callers want something else than a mutex: a part of
// `sim/world/plan.hpp`.

#include <algorithm>
#include <array>

#include "sim/random.hpp"
#include "sim/world/plan.hpp"

namespace holdfast::sim {
namespace {

using std::chrono::milliseconds;

// Who crashes is one more than there would be, as in the line of a mutex.
void draw_line(plan& p, bool calm, random& chance) {
    constexpr std::array choices{fairness::some, fairness::everybody};
    if (chance.per_mille(300)) p.fair = choices[chance.below(choices.size())];
    if (chance.per_mille(200)) p.uncalled = static_cast<unsigned>(chance.below(8));
    if (calm || !chance.per_mille(400)) return;
    p.mortals = 1 + chance.below(2);
    p.clients += p.mortals;
    p.faults.insert(fault::client_crash);
}

// There are mostly more callers than permits.
void draw_semaphore(plan& p, random& chance) {
    p.nodes = 1;
    p.kind.permits = 1 + static_cast<std::uint32_t>(chance.below(3));
    p.workers = 1 + chance.below(3);
}

// Each wants some of three keys.
void draw_several(plan& p, random& chance) {
    p.nodes = chance.per_mille(400) ? 3 : 1;
    p.workers = 1 + chance.below(3);
}

// The term is the fencing token. Where the counters of servers differ, so may what they noted.
void draw_election(plan& p, random& chance) {
    constexpr std::array<std::size_t, 4> sizes{1, 3, 3, 5};
    p.nodes = sizes[chance.below(sizes.size())];
    p.workers = 1 + chance.below(2);
    p.fencing = true;
    p.kind.observers = 1 + static_cast<unsigned>(chance.below(7));
}

// As many as never crash can open it. What a server has forgotten it waits for, for ever.
void draw_latch(plan& p, random& chance) {
    p.nodes = 1;
    p.workers = 1 + chance.below(2);
    p.kind.permits = 1 + static_cast<std::uint32_t>(chance.below(p.clients * p.workers));
    if (chance.per_mille(800)) {
        for (const auto each :
             {fault::crash_partial, fault::crash_empty, fault::flushall, fault::resync}) {
            p.faults.erase(each);
        }
    }
}

void draw_what(plan& p, random& chance) {
    constexpr std::array kinds{other_kind::semaphore, other_kind::several, other_kind::election,
                               other_kind::latch};
    p.kind.which = kinds[chance.below(kinds.size())];
    switch (p.kind.which) {
        case other_kind::none: return;
        case other_kind::semaphore: return draw_semaphore(p, chance);
        case other_kind::several: return draw_several(p, chance);
        case other_kind::election: return draw_election(p, chance);
        case other_kind::latch: return draw_latch(p, chance);
    }
}

}  // namespace

const char* name_of(topology shape) {
    switch (shape) {
        case topology::servers: return "servers";
        case topology::group: return "group";
        case topology::kinds: return "kinds";
    }
    return "?";
}

// Nobody deletes the lock by hand. What takes no fault to be seen is seen in more seeds than
// elsewhere.
void draw_kind(plan& p, fault_set allowed, random& chance) {
    const bool calm = chance.per_mille(100);
    p.faults.erase(fault::key_deleted);
    if (calm) p.faults = fault_set{};
    p.clients = static_cast<std::size_t>(chance.between(2, 3));
    p.deletions = 0;
    draw_what(p, chance);
    p.crowds = p.workers > 1 && chance.coin();
    p.longest_think = milliseconds(chance.between(50, 1500));
    if (p.nodes == 1) draw_line(p, calm, chance);
    p.faults = p.faults & allowed;
}

std::string describe(const kind_plan& kind) {
    switch (kind.which) {
        case other_kind::none: return {};
        case other_kind::semaphore:
            return ", a semaphore with " + std::to_string(kind.permits) + " permits";
        case other_kind::several: return ", several keys at once";
        case other_kind::election: return ", an election";
        case other_kind::latch: return ", latches with a count of " + std::to_string(kind.permits);
    }
    return {};
}

}  // namespace holdfast::sim
