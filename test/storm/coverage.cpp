#include "storm/coverage.hpp"

#include <algorithm>

#include "storm/line_counts.hpp"

namespace holdfast::storm {

namespace {

void append_missing_of_the_line(const account& all, std::vector<std::string>& missing) {
    const line_counts seen = count_lines(all);
    const auto demand = [&](bool happened, const char* otherwise) {
        if (!happened) missing.emplace_back(otherwise);
    };
    demand(seen.in_line > 0, "nobody was seen in line at the server");
    demand(seen.granted > 0, "nobody who stood in line was seen to be granted a lock");
    demand(seen.fair > 0, "no fair caller had a lock");
    demand(seen.timed_out > 0, "nobody waited in vain");
    demand(seen.cancelled > 0, "nobody who waited was cancelled");
    demand(seen.frozen_first > 0, "nobody who stood first in line was frozen");
    demand(seen.killed_first > 0, "nobody who stood in line was killed");
    demand(all.counts.contains(happening::cleared) || !all.remained.empty(),
           "nobody looked for what was left behind");
}

}  // namespace

std::vector<std::string> not_covered(const account& all) {
    std::vector<std::string> missing;
    const auto any_hold = [&](auto wanted) {
        return std::any_of(all.holds.begin(), all.holds.end(), wanted);
    };
    if (!any_hold([](const hold& each) { return each.handed_off; })) {
        missing.emplace_back("no lock was handed off within a process");
    }
    if (all.faults.empty()) missing.emplace_back("nothing was struck");
    const bool queued = std::any_of(all.phases.begin(), all.phases.end(),
                                    [](const phase& each) { return each.kind == "waiters"; });
    if (queued) append_missing_of_the_line(all, missing);
    return missing;
}

}  // namespace holdfast::storm
