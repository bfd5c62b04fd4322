#include "sim/check/latch_watch.hpp"

#include <algorithm>

#include "sim/check/checkers.hpp"

namespace holdfast::sim {

latch_watch::round_state& latch_watch::at(std::size_t round) {
    if (rounds_.size() <= round) rounds_.resize(round + 1);
    return rounds_[round];
}

void latch_watch::waits(std::size_t round) { (void)at(round); }

void latch_watch::begins_to_count(std::size_t round) { ++at(round).begun; }

void latch_watch::has_counted(std::size_t round) {
    if (++at(round).counted == world_.settings().kind.permits) at(round).complete = world_.now();
}

// Who begins to wait late is told late.
void latch_watch::told_open(std::size_t round, instant asked) {
    const auto& settings = world_.settings();
    const auto& state = at(round);
    ++passed_;
    const auto name = "latch " + std::to_string(round);
    if (state.begun < settings.kind.permits) {
        reports_.report(rule::latch, name + " is open, and only " + std::to_string(state.begun) +
                                         " of " + std::to_string(settings.kind.permits) +
                                         " have begun to count down");
    }
    const bool calm = settings.faults.empty() && settings.tracking;
    const auto since = std::max(state.complete, asked);
    const auto soon = settings.base_delay * 16 + core::duration{std::chrono::milliseconds(1)};
    if (!calm || state.complete == instant{} || world_.now() - since <= soon) return;
    reports_.report(rule::latch, name + " has been open since " + seconds(since) +
                                     ", and one who waits was not told");
}

}  // namespace holdfast::sim
