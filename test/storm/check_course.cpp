// How leases end, and whether life goes on.

#include <algorithm>
#include <map>
#include <set>

#include "storm/checks.hpp"

namespace holdfast::storm {
namespace {

/// Who still owned the key when it said "released" can have been followed by nobody before. Who has
/// handed it off has not asked.
void check_ownership_of(evidence& with, const evidence::lane& lane) {
    for (auto place = lane.begin(); place != lane.end(); ++place) {
        const hold& first = **place;
        if (first.outcome != "released" || !first.let_go || first.handed_on) continue;
        for (auto next = place + 1; next != lane.end(); ++next) {
            const hold& second = **next;
            if (second.acquired >= *first.let_go) break;
            if (second.asked <= first.acquired) continue;
            // An older state of a server may hold the key for its former owner once more, and so
            // may a master that was replaced.
            const bool rewound =
                with.struck_between(first.acquired, *first.answered, [](fault_kind kind) {
                    return kind == fault_kind::kill_and_rewind || moves_the_master(kind);
                });
            if (rewound) continue;
            with.accuse(rule::foreign_release, *first.let_go,
                        with.describe(first) + ", and released it; but " + with.describe(second));
        }
    }
}

void check_loss_of(evidence& with, const hold& held) {
    if (held.outcome != "already_lost" || !held.answered || *held.answered > held.deadline) return;
    if (with.struck_between(held.asked, *held.answered, forgets)) return;
    with.accuse(rule::needless_loss, *held.answered,
                with.describe(held) + ", and it was gone at " + with.seconds(*held.answered) +
                    "; no server was made to forget it");
}

void check_notice_of(evidence& with, const hold& held) {
    const bool outlived = (held.found_lost && *held.found_lost > held.deadline) ||
                          (held.let_go && *held.let_go > held.deadline);
    if (!outlived) return;
    if (held.warned && *held.warned <= held.deadline) {
        ++with.found().warned_in_time;
        return;
    }
    if (with.stalled(held.who.worker, held.deadline - with.within().loss_notice, held.deadline))
        return;
    with.accuse(rule::notice, held.deadline,
                with.describe(held) + ", and was warned " +
                    (held.warned ? "at " + with.seconds(*held.warned) : "not at all"));
}

bool within_phase(const hold& held, instant begin, instant end) {
    return held.acquired > begin && held.acquired <= end;
}

void check_progress_in(evidence& with, const phase& during) {
    instant last = during.begin;
    const auto judge = [&](instant next) {
        if (next - last > with.within().standstill) {
            with.accuse(rule::progress, next,
                        "nobody acquired anything from " + with.seconds(last) + " to " +
                            with.seconds(next) + ", though a majority was in order");
        }
        last = next;
    };
    for (const hold& each : with.facts().holds) {
        if (within_phase(each, during.begin, during.end)) judge(each.acquired);
    }
    judge(during.end);
}

/// Whether it waited for one key for most of the time, though it may have given up and asked again,
/// and others held on to that for most of its wait.
bool stood_behind_long_holds(const evidence& with, const actor& who, instant begin, instant end) {
    struct account_of_key {
        std::chrono::nanoseconds waited{};
        std::chrono::nanoseconds held_on_to{};
    };
    std::map<std::string, account_of_key> keys;
    for (const wait& each : with.facts().waits) {
        if (each.who != who || each.ended <= begin || each.began >= end) continue;
        const instant since = std::max(each.began, begin);
        const instant until = std::min(each.ended, end);
        keys[each.key].waited += until - since;
        keys[each.key].held_on_to += with.held_on_to(each.key, since, until);
    }
    return std::any_of(keys.begin(), keys.end(), [&](const auto& key) {
        const auto& [waited, held] = key.second;
        return waited > (end - begin) / 2 && held > waited / 2;
    });
}

void check_recovery_in(evidence& with, const phase& calm) {
    const instant bound = calm.begin + with.within().recovery;
    if (calm.end < bound) return;  // interrupted
    std::set<actor> actors = with.facts().actors;
    std::set<std::string> keys;
    for (const auto& [key, lane] : with.keys()) keys.insert(key);
    for (const hold& each : with.facts().holds) {
        if (!within_phase(each, calm.begin, bound)) continue;
        actors.erase(each.who);
        keys.erase(each.key);
    }
    const std::string since = " after all was healed at " + with.seconds(calm.begin);
    for (const actor& who : actors) {
        if (stood_behind_long_holds(with, who, calm.begin, bound)) continue;
        with.accuse(rule::recovery, bound, to_string(who) + " acquired nothing" + since);
    }
    for (const std::string& key : keys) {
        with.accuse(rule::recovery, bound, "nobody acquired " + key + since);
    }
}

}  // namespace

void check_releases(evidence& with) {
    for (const auto& [key, lane] : with.keys()) check_ownership_of(with, lane);
    for (const hold& each : with.facts().holds) check_loss_of(with, each);
}

void check_owners(evidence& with) {
    std::map<std::string, const hold*> seen;
    for (const hold& each : with.facts().holds) {
        for (const std::string& owner : each.shown) {
            const auto [place, fresh] = seen.emplace(owner, &each);
            const bool changed = owner != each.shown.front();
            if (!changed && (fresh || place->second == &each)) continue;
            with.accuse(rule::shared_owner, each.acquired,
                        with.describe(*place->second) + "; " + with.describe(each) +
                            (changed ? ", and its owner changed to " : ", both as ") + owner);
        }
    }
}

void check_notice(evidence& with) {
    for (const hold& each : with.facts().holds) check_notice_of(with, each);
}

void check_progress(evidence& with) {
    for (const phase& each : with.facts().phases) {
        if (each.kind == "minority") check_progress_in(with, each);
    }
}

void check_recovery(evidence& with) {
    for (const phase& each : with.facts().phases) {
        if (each.kind == "calm") check_recovery_in(with, each);
    }
}

}  // namespace holdfast::storm
