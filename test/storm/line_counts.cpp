#include "storm/line_counts.hpp"

#include <algorithm>

namespace holdfast::storm {
namespace {

/// A worker that the fault struck stands first, or, killed, anywhere: dead entries are skipped too
/// fast to be seen at the head.
bool struck_in_line(const fault& by, const sight& seen) {
    if (seen.end < by.begin || seen.begin > by.end) return false;
    if (by.kind == fault_kind::stop_worker) {
        return !seen.line.empty() && by.strikes(seen.line.front().worker);
    }
    return std::any_of(seen.line.begin(), seen.line.end(), [&](const claimant& each) {
        return !each.callable && by.strikes(each.worker);
    });
}

std::size_t count_struck(const account& all, fault_kind kind) {
    const auto was_seen = [&](const fault& by) {
        return by.kind == kind &&
               std::any_of(all.sights.begin(), all.sights.end(),
                           [&](const sight& each) { return struck_in_line(by, each); });
    };
    return static_cast<std::size_t>(std::count_if(all.faults.begin(), all.faults.end(), was_seen));
}

}  // namespace

line_counts count_lines(const account& all) {
    line_counts counts{.looks = all.sights.size()};
    std::set<std::string> in_line;
    std::set<std::string> granted;
    for (const sight& each : all.sights) {
        for (claimant one : each.line) {
            one.callable = true;
            in_line.insert(to_word(one));
        }
        if (in_line.contains(to_word(each.owner))) granted.insert(to_word(each.owner));
        counts.longest = std::max(counts.longest, each.line.size());
    }
    counts.in_line = in_line.size();
    counts.granted = granted.size();
    for (const hold& each : all.holds) counts.fair += each.fair ? 1U : 0U;
    for (const wait& each : all.waits) {
        counts.timed_out += each.how == wait_end::denied ? 1U : 0U;
        counts.cancelled += each.how == wait_end::cancelled ? 1U : 0U;
    }
    counts.frozen_first = count_struck(all, fault_kind::stop_worker);
    counts.killed_first = count_struck(all, fault_kind::kill_worker);
    return counts;
}

}  // namespace holdfast::storm
