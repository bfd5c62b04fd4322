#include <algorithm>
#include <array>

#include "lab/hazard.hpp"

namespace holdfast::lab {
namespace {

using excuse = std::optional<std::string>;

excuse nobody(const scheme_entry&) { return std::nullopt; }

excuse without_expiry(const scheme_entry& scheme) {
    if (scheme.expires) return std::nullopt;
    return "the lock never expires";
}

excuse without_owner(const scheme_entry& scheme) {
    if (scheme.checks_owner) return std::nullopt;
    return "the release checks nothing that could change; see stranger";
}

excuse single_server(const scheme_entry& scheme) {
    if (scheme.nodes > 1) return std::nullopt;
    return "one server has no minority";
}

excuse no_clock(const scheme_entry&) {
    if (test::shifted_clock::available()) return std::nullopt;
    return "clocks can be shifted in the build tree only";
}

}  // namespace

std::span<const hazard_entry> hazards() {
    constexpr props clock{.server_clock = true};
    static constexpr std::array<hazard_entry, 16> all{{
        {"crash", "the client dies between two commands", {}, nobody, crash_between_commands},
        {"race", "two clients check before either sets", {}, nobody, check_then_set},
        {"skew", "the clocks of two clients differ", {}, no_clock, skewed_client},
        {"overwrite",
         "who loses the race for an expired lock changes it",
         {},
         without_expiry,
         loser_changes_lock},
        {"stranger", "somebody releases a lock that is not his", {}, nobody, released_by_stranger},
        {"overtime", "the work takes longer than the ttl", {}, without_expiry, work_outlives_ttl},
        {"late-delete",
         "a holder pauses beyond its ttl, and then releases",
         {},
         without_expiry,
         paused_holder_deletes},
        {"release-race",
         "the lock changes hands between GET, compare and DEL",
         {},
         without_owner,
         release_races_expiry},
        {"failover",
         "a master dies before its replica has the lock",
         {},
         nobody,
         master_dies,
         watched_master_dies},
        {"restart",
         "a server that two majorities share restarts empty",
         {},
         nobody,
         restarts_empty},
        {"lost-answer", "the SET lands, and its answer is lost", {}, nobody, answer_lost},
        {"late-write",
         "a holder pauses beyond its ttl, and then writes",
         {},
         without_expiry,
         paused_holder_writes},
        {"clock-jump", "the clock of a shared server has just jumped", clock, no_clock,
         clock_just_jumped},
        {"old-jump", "the clock of a shared server jumped 3 s ago", clock, no_clock,
         clock_jumped_before},
        {"hang", "a minority of the servers hangs", {}, single_server, minority_hangs},
        {"cut-off",
         "a master is cut off with a client, and a replica is promoted",
         {},
         nobody,
         master_cut_off,
         watched_master_cut_off},
    }};
    return all;
}

const hazard_entry* find_hazard(std::string_view name) {
    const auto found = std::find_if(hazards().begin(), hazards().end(),
                                    [&](const hazard_entry& each) { return each.name == name; });
    return found == hazards().end() ? nullptr : &*found;
}

}  // namespace holdfast::lab
