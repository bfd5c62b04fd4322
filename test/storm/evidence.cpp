#include <algorithm>
#include <iomanip>
#include <sstream>

#include "storm/checks.hpp"

namespace holdfast::storm {

evidence::evidence(const account& all, const bounds& within, verdict& into)
    : all_(all), within_(within), verdict_(into) {
    for (const hold& each : all.holds) keys_[each.key].push_back(&each);
    for (const stall& each : all.stalls) stalls_[each.worker].push_back(&each);
    for (const sight& each : all.sights) sights_[each.key].push_back(&each);
}

bool evidence::unpromised_between(const hold& earlier, const hold& later) const {
    return std::any_of(all_.faults.begin(), all_.faults.end(), [&](const fault& each) {
        const bool deleted = each.kind == fault_kind::delete_lock && later.key == popular_key;
        const bool jumped = each.kind == fault_kind::clock_forwards;
        return (jumped || deleted) && each.end >= earlier.asked && each.begin <= later.acquired &&
               later.asked <= each.end + within_.max_ttl;
    });
}

bool evidence::stalled(const std::string& worker, instant begin, instant end) const {
    const auto all = stalls_.find(worker);
    if (all == stalls_.end()) return false;
    return std::any_of(all->second.begin(), all->second.end(),
                       [&](const stall* each) { return each->begin <= end && each->end >= begin; });
}

bool evidence::frozen(const std::string& worker, instant begin, instant end) const {
    return std::any_of(all_.faults.begin(), all_.faults.end(), [&](const fault& each) {
        return each.kind == fault_kind::stop_worker && each.begin <= end && each.end >= begin &&
               each.strikes(worker);
    });
}

bool evidence::distracted(const std::string& worker, instant begin, instant end) const {
    constexpr std::chrono::seconds soon(1);
    if (stalled(worker, begin, end) || frozen(worker, begin, end)) return true;
    const auto links = all_.links.find(worker);
    return links != all_.links.end() &&
           std::any_of(links->second.begin(), links->second.end(),
                       [&](instant at) { return at >= begin && at <= end + soon; });
}

instant evidence::held_on_to(const std::string& key, instant begin, instant end) const {
    instant sum{};
    const auto all = keys_.find(key);
    if (all == keys_.end()) return sum;
    for (const hold* each : all->second) {
        const bool long_one = each->valid_to() - each->acquired > std::chrono::seconds(1);
        if (!long_one || each->acquired >= end || each->valid_to() <= begin) continue;
        sum += std::min(each->valid_to(), end) - std::max(each->acquired, begin);
    }
    return sum;
}

const life* evidence::life_of(const claimant& who) const {
    for (const life& each : all_.lives) {
        if (each.worker == who.worker && each.process == who.process) return &each;
    }
    return nullptr;
}

std::string evidence::seconds(instant at) const {
    std::ostringstream text;
    text << std::fixed << std::setprecision(3)
         << std::chrono::duration<double>(at - all_.begin).count() << 's';
    return text.str();
}

std::string evidence::describe(const hold& held) const {
    return to_string(held.who) + " held " + held.key + " from " + seconds(held.acquired) + " to " +
           seconds(held.valid_to()) + " with token " + std::to_string(held.token);
}

void evidence::accuse(rule broken, instant at, std::string story) {
    verdict_.violations.push_back({broken, at, std::move(story)});
}

verdict check(const account& all, const bounds& within) {
    verdict found;
    evidence with(all, within, found);
    check_exclusion(with);
    check_tokens(with);
    check_updates(with);
    check_releases(with);
    check_owners(with);
    check_notice(with);
    check_progress(with);
    check_recovery(with);
    check_order(with);
    check_unclaimed(with);
    check_entries(with);
    check_left_behind(with);
    check_shares(with);
    std::stable_sort(found.violations.begin(), found.violations.end(),
                     [](const violation& a, const violation& b) { return a.at < b.at; });
    return found;
}

}  // namespace holdfast::storm
