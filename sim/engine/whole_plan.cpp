#include "sim/engine/whole_plan.hpp"

#include <algorithm>

#include "sim/random.hpp"

namespace holdfast::sim::engine {
namespace {

using std::chrono::milliseconds;

// As the shipped heartbeat and connections have it: src/runtime/heartbeat.cpp, engine.cpp.
constexpr core::duration heartbeat = std::chrono::seconds(1);
constexpr int silence_factor = 3;

// A heartbeat a second takes much of a run's time. Of a minute, a quarter is as full of events, if
// nobody thinks for longer than that.
void shorten(plan& p) {
    const int by = p.interrupts ? 3 : 4;              // after each of these a quarantine has to end
    if (p.length < std::chrono::seconds(60)) return;  // made for something special
    p.length /= by;
    p.troubled = std::min(p.troubled, p.length);
    p.longest_think /= by;
}

core::duration whole(core::duration d) { return std::chrono::ceil<milliseconds>(d); }

}  // namespace

plan draw_whole_plan(std::uint64_t seed, fault_set allowed) {
    auto p = draw_plan(seed, allowed);
    auto chance = random(seed).split(6);
    const bool calm = p.faults.empty();
    const auto wanted = static_cast<unsigned>(chance.between(30, 500));
    for (auto i = first_of_whole_clients; i < fault_count; ++i) {
        const auto each = static_cast<fault>(i);
        if (chance.per_mille(wanted) && !calm && allowed.has(each)) p.faults.insert(each);
    }
    shorten(p);
    p.node_timeout = whole(std::max<core::duration>(p.node_timeout, p.base_delay * 8));
    p.timing.guard_time = whole(p.timing.guard_time);
    p.timing.min_validity = whole(p.timing.min_validity);
    p.notice = whole(p.notice);
    p.max_ttl = whole(p.max_ttl);
    if (!p.interrupts) p.fence_retention = std::max(p.fence_retention, p.max_ttl);
    p.silence = p.node_timeout * silence_factor;
    p.heartbeat = heartbeat;
    return p;
}

}  // namespace holdfast::sim::engine
