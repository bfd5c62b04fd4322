// Who stands in line, and what a lock does meanwhile.

#include <algorithm>
#include <iterator>
#include <utility>

#include "storm/checks.hpp"

namespace holdfast::storm {
namespace {

/// The end of the last fault of a server, with the time it takes to settle, before `end`.
instant settled_before(const evidence& with, instant end) {
    instant last{};
    for (const fault& each : with.facts().faults) {
        if (strikes_workers(each.kind) || each.kind == fault_kind::kill_waiter) continue;
        if (each.begin <= end) last = std::max(last, each.end + with.within().settling);
    }
    return last;
}

/// One owner of a lock, or none, for as long as others were seen in line all the time.
struct span {
    const sight* first;
    const sight* last;
    std::vector<claimant> waiting;

    [[nodiscard]] instant begin() const { return first->begin; }
    [[nodiscard]] instant end() const { return last->end; }
    [[nodiscard]] const claimant& owner() const { return first->owner; }
};

bool alive(const evidence& with, const claimant& who, instant at) {
    const life* const found = with.life_of(who);
    return found != nullptr && found->end >= at;
}

bool runs(const evidence& with, const claimant& who, instant begin, instant end) {
    return alive(with, who, end) &&
           !with.distracted(who.worker, begin - std::chrono::seconds(1), end);
}

/// Whether somebody of its process noted to have it, for some of that time.
bool claimed(const evidence& with, const span& seen) {
    constexpr std::chrono::milliseconds of_another_attempt(100);
    const auto lane = with.keys().find(seen.first->key);
    if (lane == with.keys().end()) return false;
    return std::any_of(lane->second.begin(), lane->second.end(), [&](const hold* each) {
        if (each->who.worker != seen.owner().worker) return false;
        const instant both =
            std::min(each->valid_to(), seen.end()) - std::max(each->asked, seen.begin());
        return both > of_another_attempt;
    });
}

/// For how long of the span its owner was frozen, without a break, or dead.
instant stood_still(const evidence& with, const span& seen) {
    instant longest{};
    const auto consider = [&](instant begin, instant end) {
        longest = std::max(longest, std::min(end, seen.end()) - std::max(begin, seen.begin()));
    };
    for (const fault& each : with.facts().faults) {
        const bool freezes = each.kind == fault_kind::stop_worker;
        if (freezes && each.strikes(seen.owner().worker)) consider(each.begin, each.end);
    }
    if (const life* const found = with.life_of(seen.owner())) consider(found->end, instant::max());
    return longest;
}

/// For how long nobody had it, or one who runs and did not take it.
instant lay_unclaimed(evidence& with, const span& seen) {
    if (seen.owner().nobody()) return seen.end() - seen.begin();
    if (!runs(with, seen.owner(), seen.begin(), seen.end()) || claimed(with, seen)) return {};
    return seen.end() - seen.begin();
}

void judge(evidence& with, const span& seen) {
    if (seen.end() - seen.begin() < std::chrono::seconds(1)) return;
    const bool witnessed = std::any_of(
        seen.waiting.begin(), seen.waiting.end(),
        [&](const claimant& each) { return runs(with, each, seen.begin(), seen.end()); });
    if (!witnessed || seen.begin() < settled_before(with, seen.end())) return;
    const instant still = stood_still(with, seen);
    if (still > std::chrono::seconds(1)) ++with.found().passed_over;
    const bool frozen = still > with.within().unclaimed_by_frozen;
    if (!frozen && lay_unclaimed(with, seen) <= with.within().unclaimed) return;
    const claimant& owner = seen.owner();
    with.accuse(rule::unclaimed_lock, seen.end(),
                seen.first->key + " was with " +
                    (owner.nobody() ? "nobody"
                     : frozen       ? to_word(owner) + ", which stood still or was dead,"
                                    : to_word(owner) + ", which did not take it,") +
                    " from " + with.seconds(seen.begin()) + " to " + with.seconds(seen.end()) +
                    ", while " + to_word(seen.waiting.front()) + " stood in line");
}

std::vector<claimant> callable_in(const sight& seen) {
    std::vector<claimant> all = seen.line;
    std::erase_if(all, [](const claimant& each) { return !each.callable; });
    return all;
}

bool goes_on(span& seen, const sight& next) {
    if (next.begin - seen.end() > longest_between_looks || !next.owner.same(seen.owner())) {
        return false;
    }
    std::vector<claimant> both = callable_in(next);
    std::erase_if(both, [&](const claimant& each) {
        return std::none_of(seen.waiting.begin(), seen.waiting.end(),
                            [&](const claimant& other) { return other.same(each); });
    });
    if (both.empty()) return false;
    seen.last = &next;
    seen.waiting = std::move(both);
    return true;
}

void check_unclaimed_of(evidence& with, const evidence::sightings& all) {
    std::optional<span> seen;
    for (const sight* next : all) {
        if (seen && goes_on(*seen, *next)) continue;
        if (seen) judge(with, *seen);
        seen.reset();
        if (auto waiting = callable_in(*next); !waiting.empty()) seen = {next, next, waiting};
    }
    if (seen) judge(with, *seen);
}

/// The server knew that nobody listens, and granted it the lock all the same.
void check_grant_to_the_dead(evidence& with, const sight& before, const sight& after) {
    const claimant* const entry = before.find(after.owner);
    if (entry == nullptr || entry->callable || alive(with, *entry, before.begin)) return;
    with.accuse(rule::unclaimed_lock, after.begin,
                after.key + " was granted to " + to_word(*entry) +
                    ", which was dead, and to which nobody listened at " +
                    with.seconds(before.end));
}

/// One attempt in line, from the first look that found it to the last.
struct entry {
    claimant who{};
    const sight* first = nullptr;
    const sight* last = nullptr;
};

std::vector<entry> entries_of(const evidence::sightings& all) {
    std::map<std::string, entry> found;
    for (const sight* next : all) {
        for (claimant each : next->line) {
            each.callable = true;  // the same, whether it is or not
            entry& one = found[to_word(each)];
            if (one.first == nullptr) one = {each, next, next};
            one.last = next;
        }
    }
    std::vector<entry> entries;
    for (auto& [word, one] : found) entries.push_back(std::move(one));
    return entries;
}

/// When the callers of each worker waited for a key.
class wait_times {
  public:
    explicit wait_times(const std::vector<wait>& all) {
        for (const wait& each : all) of_[{each.who.worker, each.key}].push_back(&each);
        for (auto& [of, waits] : of_) {
            std::sort(waits.begin(), waits.end(),
                      [](const wait* a, const wait* b) { return a->began < b->began; });
        }
    }

    /// When the last wait ended that can have stood there: one that began before the entry was
    /// seen; or one that was waiting, too, when that gave up, and was left the place.
    [[nodiscard]] instant last_for(const entry& one) const {
        instant end = one.first->end;
        instant last{};
        for (const wait* each : at(one)) {
            const bool put_it_there = each->began <= one.first->end;
            const bool was_left_it = !each->fair && each->began <= end;
            if (!put_it_there && !was_left_it) continue;
            last = std::max(last, each->ended);
            end = std::max(end, last);
        }
        return last;
    }

    /// How many places its worker can have had in line in that time: one for each fair caller, and
    /// one for all others.
    [[nodiscard]] std::size_t places(const entry& one, instant begin, instant end) const {
        std::size_t fair = 0;
        bool others = false;
        for (const wait* each : at(one)) {
            if (each->began > end || each->ended < begin) continue;
            if (each->fair) {
                ++fair;
            } else {
                others = true;
            }
        }
        return fair + (others ? 1 : 0);
    }

  private:
    [[nodiscard]] const std::vector<const wait*>& at(const entry& one) const {
        static const std::vector<const wait*> none;
        const auto found = of_.find({one.who.worker, one.first->key});
        return found == of_.end() ? none : found->second;
    }

    std::map<std::pair<std::string, std::string>, std::vector<const wait*>> of_;
};

/// Whether those ahead of it account for the time: they held on to the lock, or it was granted to
/// them while they stood still.
bool held_up(const evidence& with, const entry& one, instant begin) {
    const instant end = one.last->end;
    instant sum{};
    for (const sight* each : with.sights().at(one.first->key)) {
        const instant from = std::max(each->begin, begin);
        const instant to = std::min(each->end, end);
        if (from >= to) continue;
        const bool frozen = !each->owner.nobody() && with.frozen(each->owner.worker, from, to);
        sum += frozen ? to - from : with.held_on_to(each->key, from, to);
    }
    return sum > (end - begin) / 2;
}

void check_entry_of_the_dead(evidence& with, const entry& one, const life& of) {
    const instant from = std::max(of.end, settled_before(with, one.last->end));
    if (one.last->end - from <= with.within().entry_of_the_dead || held_up(with, one, from)) return;
    with.accuse(rule::gone_in_line, one.last->end,
                to_word(one.who) + " stood in line for " + one.last->key + " at " +
                    with.seconds(one.last->end) + ", and was dead since " + with.seconds(of.end));
}

void check_entry_without_waiter(evidence& with, const entry& one, instant since) {
    const instant from = std::max(since, settled_before(with, one.last->end));
    if (one.last->end - from <= with.within().entry_without_waiter) return;
    if (with.distracted(one.who.worker, from, one.last->end)) return;
    // A request of a connection that was lost may have put it there after its waiter had left.
    const instant before = one.first->begin - with.within().settling;
    if (with.distracted(one.who.worker, before, from) && held_up(with, one, from)) return;
    with.accuse(rule::gone_in_line, one.last->end,
                to_word(one.who) + " stood in line for " + one.last->key + " at " +
                    with.seconds(one.last->end) + ", and nobody waited there since " +
                    with.seconds(since));
}

/// More entries of one process than it has waiters: one of them nobody waits under.
void check_number_of_entries(evidence& with, const std::vector<entry>& all, const entry& one,
                             const wait_times& waits) {
    const instant end = one.last->end;
    const instant begin = end - with.within().entry_without_waiter;
    if (one.first->begin > begin || begin < settled_before(with, end)) return;
    if (with.distracted(one.who.worker, begin, end)) return;
    const auto stood =
        static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const entry& each) {
            return each.who.worker == one.who.worker && each.who.process == one.who.process &&
                   each.first->begin <= begin && each.last->end >= end;
        }));
    if (stood <= waits.places(one, begin, end)) return;
    with.accuse(rule::gone_in_line, end,
                to_word(one.who) + " stood in line for " + one.last->key + " at " +
                    with.seconds(end) + ", one of " + std::to_string(stood) +
                    " entries of its process since " + with.seconds(begin) +
                    ", and not as many waited");
}

/// Recovery, of one who did not give up.
void check_patience(evidence& with, const entry& one) {
    const instant from = std::max(one.first->begin, settled_before(with, one.last->end));
    if (one.last->end - from <= with.within().recovery || held_up(with, one, from)) return;
    if (with.distracted(one.who.worker, from, one.last->end)) return;
    with.accuse(rule::recovery, one.last->end,
                to_word(one.who) + " stood in line for " + one.last->key + " from " +
                    with.seconds(one.first->begin) + " to " + with.seconds(one.last->end));
}

}  // namespace

void check_unclaimed(evidence& with) {
    for (const auto& [key, all] : with.sights()) {
        check_unclaimed_of(with, all);
        for (std::size_t n = 1; n < all.size(); ++n) {
            check_grant_to_the_dead(with, *all[n - 1], *all[n]);
        }
    }
}

void check_entries(evidence& with) {
    const wait_times waits(with.facts().waits);
    for (const auto& [key, all] : with.sights()) {
        const auto entries = entries_of(all);
        for (const entry& one : entries) {
            const life* const of = with.life_of(one.who);
            if (of == nullptr) continue;
            if (of->end < one.last->end) {
                check_entry_of_the_dead(with, one, *of);
            } else {
                check_entry_without_waiter(with, one, waits.last_for(one));
                check_number_of_entries(with, entries, one, waits);
                check_patience(with, one);
            }
        }
    }
}

void check_left_behind(evidence& with) {
    for (const std::string& key : with.facts().remained) {
        with.accuse(rule::left_behind, with.facts().end,
                    key + " was there " +
                        with.seconds(with.facts().begin + with.within().left_behind) +
                        " after all workers had ended");
    }
}

}  // namespace holdfast::storm
