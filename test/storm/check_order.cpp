// Who has the lock next: the wait queue's order, as it was seen at the server.

#include <algorithm>
#include <utility>

#include "storm/checks.hpp"

namespace holdfast::storm {
namespace {

bool consecutive(const sight& before, const sight& after) {
    return after.begin - before.end <= longest_between_looks;
}

/// Nothing in the span made the server forget the line, or pass this one over as gone.
bool stayed(const evidence& with, const claimant& who, instant begin, instant end) {
    return !with.struck_between(begin, end, forgets_the_line) &&
           !with.distracted(who.worker, begin, end);
}

/// Stood in line behind another in one look, and owns the lock in the next, in which that one still
/// stands in line.
void check_overtaking(evidence& with, const sight& before, const sight& after) {
    const claimant* const winner = before.find(after.owner);
    if (winner == nullptr || !consecutive(before, after)) return;
    ++with.found().grants_compared;
    for (const claimant& first : before.line) {
        if (&first == winner) break;
        const claimant* const still = after.find(first);
        if (!first.callable || still == nullptr || !still->callable) continue;
        if (!stayed(with, first, before.end, after.begin)) continue;
        with.accuse(rule::order, after.begin,
                    to_word(*winner) + " was granted " + after.key + " ahead of " + to_word(first) +
                        ", which had stood in line before it at " + with.seconds(before.end) +
                        " and still did");
    }
}

/// Whether it owned the lock in one of these, or nobody looked for a while between two of them.
bool may_have_had_it(const claimant& who, const evidence::sightings& all, std::size_t from,
                     std::size_t to) {
    for (std::size_t n = from + 1; n <= to; ++n) {
        if (all[n]->owner.same(who) || !consecutive(*all[n - 1], *all[n])) return true;
    }
    return false;
}

/// Stood in line, did not, and the same attempt stands there again: it has lost its place.
void check_places(evidence& with, const evidence::sightings& all) {
    std::map<std::string, std::size_t> last;
    for (std::size_t n = 0; n < all.size(); ++n) {
        for (claimant each : all[n]->line) {
            each.callable = true;  // the same, whether it is or not
            const auto [place, first] = last.emplace(to_word(each), n);
            const std::size_t before = std::exchange(place->second, n);
            if (first || n - before < 2 || may_have_had_it(each, all, before, n)) continue;
            if (!stayed(with, each, all[before]->begin, all[n]->begin)) continue;
            with.accuse(rule::order, all[n]->begin,
                        to_word(each) + " stood in line for " + all[n]->key + " until " +
                            with.seconds(all[before]->end) + ", was not granted it, and had to " +
                            "stand in line anew at " + with.seconds(all[n]->begin));
        }
    }
}

/// Those of `candidates` that also stand in this line, and can be called.
std::vector<claimant> who_stayed(std::vector<claimant> candidates, const sight& next) {
    std::erase_if(candidates, [&](const claimant& each) {
        const claimant* const found = next.find(each);
        return !each.callable || found == nullptr || !found->callable;
    });
    return candidates;
}

/// Whether all who had the lock in the span gave it back themselves. Where a lease has run out, or
/// was deleted, a client that knew of nobody in line may pass it, by SET NX.
bool passed_on_in_order(const evidence& with, const hold& to, instant begin) {
    if (with.struck_between(begin - with.within().max_ttl, to.acquired,
                            [](fault_kind) { return true; })) {
        return false;
    }
    const auto& lane = with.keys().at(to.key);
    return std::all_of(lane.begin(), lane.end(), [&](const hold* each) {
        const bool before = each != &to && each->acquired < to.acquired &&
                            each->acquired > begin - with.within().max_ttl * 2;
        return !before || (each->outcome == "released" && each->answered <= each->deadline);
    });
}

/// When it had begun to be true, at the latest.
instant first_look_by(const sight& seen) {
    return std::min(seen.end, seen.begin + longest_between_looks);
}

/// Those who stand in line ahead of any place that was left to this one by others of its process.
std::vector<claimant> ahead_of(const hold& newcomer, const sight& seen) {
    const auto own = std::find_if(seen.line.begin(), seen.line.end(), [&](const claimant& each) {
        return !newcomer.fair && each.worker == newcomer.who.worker;
    });
    return {seen.line.begin(), own};
}

/// Asked when others were seen in line, and had the lock when they were still seen there.
void check_arrival(evidence& with, const evidence::sightings& all, const hold& newcomer) {
    if (newcomer.handed_off) return;
    auto place = std::partition_point(all.begin(), all.end(), [&](const sight* each) {
        return first_look_by(*each) < newcomer.began;
    });
    if (place == all.begin()) return;
    const sight* before = *--place;
    const instant since = first_look_by(*before);
    if (newcomer.began - before->end > longest_between_looks) return;  // nobody has looked since
    auto waiting = who_stayed(ahead_of(newcomer, *before), *before);
    if (!waiting.empty()) ++with.found().arrivals_compared;
    while (before->begin < newcomer.acquired && !waiting.empty()) {
        if (++place == all.end() || !consecutive(*before, **place)) return;
        before = *place;
        waiting = who_stayed(waiting, *before);
    }
    for (const claimant& first : waiting) {
        if (!stayed(with, first, since, before->begin)) continue;
        if (!passed_on_in_order(with, newcomer, since)) continue;
        with.accuse(rule::order, newcomer.acquired,
                    with.describe(newcomer) + ", asked for at " + with.seconds(newcomer.began) +
                        ", when " + to_word(first) + " stood in line; that one still did at " +
                        with.seconds(before->begin));
    }
}

}  // namespace

void check_order(evidence& with) {
    for (const auto& [key, all] : with.sights()) {
        for (std::size_t n = 1; n < all.size(); ++n) check_overtaking(with, *all[n - 1], *all[n]);
        check_places(with, all);
    }
    for (const hold& each : with.facts().holds) {
        const auto sights = with.sights().find(each.key);
        if (sights != with.sights().end()) check_arrival(with, sights->second, each);
        if (each.fair && (each.handed_off || each.handed_on)) {
            with.accuse(rule::order, each.acquired,
                        with.describe(each) + ", fair, and yet it was handed off in its process");
        }
    }
}

}  // namespace holdfast::storm
