#include "sim/check/leader_watch.hpp"

#include <utility>

#include "sim/check/checkers.hpp"

namespace holdfast::sim {
namespace {

std::string text_of(const leader_watch::leading& who) {
    if (who.term == 0) return "nobody";
    return who.owner + " with " + who.value + " in term " + std::to_string(who.term);
}

// A few round trips, each leg as slow as is not yet called a disturbance.
core::duration soon(const plan& settings) {
    return settings.base_delay * 16 + core::duration{std::chrono::milliseconds(1)};
}

}  // namespace

// Servers know before it does.
void leader_watch::elected(leading who) {
    const auto said = foretold_.find(who.owner);
    if (said != foretold_.end()) {
        compare(who, said->second);
        foretold_.erase(said);
    }
    const auto owner = who.owner;
    reigns_.insert_or_assign(owner, reign{std::move(who), world_.now()});
}

void leader_watch::resigns(std::string_view owner) {
    const auto& settings = world_.settings();
    const auto found = reigns_.find(owner);
    if (found == reigns_.end() || !settings.faults.empty()) return;
    if (world_.now() - found->second.since < soon(settings)) return;
    if (keys_.noting_others(found->second.who) > 0) {
        reports_.report(rule::leader, "a server that elected " + text_of(found->second.who) +
                                          " has noted something else");
    }
    if (!settings.tracking) return;
    for (std::size_t n = 0; n < told_.size(); ++n) {
        const bool observes = (settings.kind.observers >> n & 1U) != 0;
        if (!observes || told_[n].of == found->second.who) continue;
        reports_.report(rule::leader, "client " + std::to_string(n) + " was told last of " +
                                          text_of(told_[n].of) + ", and not of " +
                                          text_of(found->second.who));
    }
}

void leader_watch::told(std::uint32_t client, const leading& of_whom) {
    auto& last = told_[client];
    const auto before = std::exchange(last, {true, of_whom}).of;
    if (of_whom.term == 0) return;
    ++tidings_;
    // Of a quorum: see compare(). What older data brings back was true once.
    const bool settled = world_.settings().nodes == 1 && !world_.settings().forgets();
    if (settled && reports_.order_promised() && of_whom.term < before.term) {
        reports_.report(rule::leader, "client " + std::to_string(client) + " is told of " +
                                          text_of(of_whom) + " after " + text_of(before));
    }
    const auto found = reigns_.find(of_whom.owner);
    if (found != reigns_.end()) return compare(found->second.who, of_whom);
    foretold_.insert_or_assign(of_whom.owner, of_whom);
}

// A candidate of a quorum settles for the largest of the counters that it was told of. Who looks
// before the last of them has come may find a majority that has noted one below that: what comes
// with the next look is the term.
void leader_watch::compare(const leading& real, const leading& said) {
    const bool unsettled = world_.settings().nodes > 1 && said.term < real.term;
    if (real == said || (unsettled && said.value == real.value)) return;
    reports_.report(rule::leader,
                    "an observer was told of " + text_of(said) + ", and it is " + text_of(real));
}

}  // namespace holdfast::sim
