// T1 and T2, and what they are for: updates that are not lost.

#include <algorithm>
#include <map>

#include "storm/checks.hpp"

namespace holdfast::storm {
namespace {

void check_exclusion_of(evidence& with, const evidence::lane& lane) {
    evidence::lane valid;  // those that may overlap with the next one
    for (const hold* next : lane) {
        std::erase_if(valid, [&](const hold* each) { return each->valid_to() <= next->acquired; });
        for (const hold* each : valid) {
            if (next->valid_to() <= next->acquired) continue;  // was over before it was noted
            if (with.unpromised_between(*each, *next)) {
                ++with.found().overlaps_unpromised;
            } else {
                with.accuse(rule::exclusion, next->acquired,
                            with.describe(*each) + "; " + with.describe(*next));
            }
        }
        valid.push_back(next);
    }
}

void check_uniqueness_of(evidence& with, const evidence::lane& lane) {
    std::map<std::uint64_t, const hold*> seen;
    for (const hold* next : lane) {
        const auto [place, fresh] = seen.emplace(next->token, next);
        if (fresh && next->token != 0) continue;
        with.accuse(rule::unique_tokens, next->acquired,
                    with.describe(*place->second) + "; " + with.describe(*next));
    }
}

/// Each against the largest token of all that had been acquired when its holder asked.
void check_order_of(evidence& with, const evidence::lane& by_acquired) {
    evidence::lane by_asked = by_acquired;
    std::stable_sort(by_asked.begin(), by_asked.end(), [](const hold* a, const hold* b) {
        return a->ordered_from() < b->ordered_from();
    });
    const hold* largest = nullptr;
    auto earlier = by_acquired.begin();
    for (const hold* next : by_asked) {
        for (; earlier != by_acquired.end() && (*earlier)->acquired < next->ordered_from();
             ++earlier) {
            if (largest == nullptr || (*earlier)->token > largest->token) largest = *earlier;
        }
        if (largest == nullptr || largest->token <= next->token) continue;
        with.accuse(rule::token_order, next->acquired,
                    with.describe(*largest) + "; " + with.describe(*next) + ", asked for at " +
                        with.seconds(next->ordered_from()));
    }
}

/// Writes that began from the same version: all but one of them are lost.
using rivals = std::vector<const write*>;

std::map<std::string, rivals> contention_of(const account& all) {
    std::map<std::string, bool> was_read;
    for (const write& each : all.writes) was_read[each.where + ' ' + each.base] = true;
    std::map<std::string, rivals> by_base;
    for (const write& each : all.writes) {
        // A writer that was killed did write, if somebody has read it.
        const bool landed = each.state == write_state::accepted ||
                            (each.state == write_state::unknown &&
                             was_read.contains(each.where + ' ' + each.version));
        if (landed) by_base[each.where + ' ' + each.base].push_back(&each);
    }
    return by_base;
}

std::string describe(const evidence& with, const write& each) {
    const hold& held = with.facts().holds[each.hold];
    return to_string(held.who) + " wrote " + each.version + " over " + each.base + " at " +
           with.seconds(each.done) + ", valid until " + with.seconds(held.deadline);
}

/// A write is timely if it was over before its holder's deadline: two of them need an explanation.
void explain(evidence& with, const rivals& all) {
    const auto hold_of = [&](const write* each) -> const hold& {
        return with.facts().holds[each->hold];
    };
    rivals timely;
    bool killed = false;
    for (const write* each : all) {
        if (each->state == write_state::unknown)
            killed = true;
        else if (each->done <= hold_of(each).deadline)
            timely.push_back(each);
    }
    const auto lost = all.size() - 1;
    if (timely.size() < 2) {
        (killed ? with.found().lost_around_a_kill : with.found().lost_after_deadline) += lost;
        return;
    }
    std::sort(timely.begin(), timely.end(), [&](const write* a, const write* b) {
        return hold_of(a).acquired < hold_of(b).acquired;
    });
    if (with.unpromised_between(hold_of(timely.front()), hold_of(timely.back()))) {
        with.found().lost_unpromised += lost;
        return;
    }
    with.accuse(rule::plain_update, timely.back()->done,
                timely.front()->where + ": " + describe(with, *timely.front()) + "; " +
                    describe(with, *timely.back()));
}

}  // namespace

void check_exclusion(evidence& with) {
    for (const auto& [key, lane] : with.keys()) check_exclusion_of(with, lane);
}

void check_tokens(evidence& with) {
    for (const auto& [key, lane] : with.keys()) {
        check_uniqueness_of(with, lane);
        check_order_of(with, lane);
    }
}

void check_updates(evidence& with) {
    const auto is_fenced = [](const write& each) { return each.where.starts_with("fenced"); };
    for (const write& each : with.facts().writes) {
        if (each.state != write_state::accepted) continue;
        ++(is_fenced(each) ? with.found().fenced_updates : with.found().plain_updates);
    }
    for (const auto& [base, all] : contention_of(with.facts())) {
        if (all.size() < 2) continue;
        if (is_fenced(*all.front())) {
            with.accuse(rule::fenced_update, all.back()->done,
                        all.front()->where + ": " + describe(with, *all.front()) + "; " +
                            describe(with, *all.back()));
        } else {
            explain(with, all);
        }
    }
}

}  // namespace holdfast::storm
