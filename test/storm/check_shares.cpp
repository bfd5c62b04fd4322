// Whether processes that are after one lock all the time have it equally often.

#include <algorithm>

#include "storm/checks.hpp"

namespace holdfast::storm {
namespace {

/// Whether it stood still for so much of the time that its share says nothing.
bool starved(const evidence& with, const std::string& worker, instant begin, instant end) {
    instant sum{};
    for (const stall& each : with.facts().stalls) {
        if (each.worker != worker || each.begin >= end || each.end <= begin) continue;
        sum += std::min(each.end, end) - std::max(each.begin, begin);
    }
    return sum > (end - begin) / 20 || with.frozen(worker, begin, end);
}

/// How often the server granted each worker the lock: hand-offs within it do not count.
std::map<std::string, std::size_t> grants(const evidence& with, instant begin, instant end) {
    std::map<std::string, std::size_t> found;
    for (const actor& each : with.facts().actors) found[each.worker];
    for (const hold& each : with.facts().holds) {
        const bool counts = each.key == popular_key && !each.handed_off && each.acquired > begin &&
                            each.acquired <= end;
        if (counts) ++found[each.who.worker];
    }
    std::erase_if(found, [&](const auto& each) { return starved(with, each.first, begin, end); });
    return found;
}

void check_shares_in(evidence& with, const phase& rush) {
    const instant begin = rush.begin + with.within().rush_begins;
    if (rush.end <= begin) return;  // interrupted
    const auto all = grants(with, begin, rush.end);
    if (all.size() < 2) return;
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [worst, best] = std::minmax_element(all.begin(), all.end(), fewer);
    if (best->second < with.within().fewest_grants) return;
    // Whose turn was last, and whose would have been next.
    const double ratio = static_cast<double>(best->second) / static_cast<double>(worst->second + 1);
    ++with.found().shares_compared;
    with.found().widest_share = std::max(with.found().widest_share, ratio);
    if (ratio <= with.within().shares) return;
    with.accuse(rule::shares, rush.end,
                best->first + " was granted " + std::string(popular_key) + ' ' +
                    std::to_string(best->second) + " times from " + with.seconds(begin) + " to " +
                    with.seconds(rush.end) + ", and " + worst->first + ' ' +
                    std::to_string(worst->second) + " times");
}

}  // namespace

void check_shares(evidence& with) {
    for (const phase& each : with.facts().phases) {
        if (each.kind == "rush") check_shares_in(with, each);
    }
}

}  // namespace holdfast::storm
