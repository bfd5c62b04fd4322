#include "sim/check/line_watch.hpp"

#include <algorithm>
#include <utility>

#include "sim/check/checkers.hpp"

namespace holdfast::sim {
namespace {

// A denial is `*4`: zero, the holder, its time, the place. The place is the last line.
bool has_place(std::string_view answer) {
    return answer.starts_with("*4\r\n:0\r\n") && !answer.ends_with("\r\n:0\r\n");
}

// Whatever may let somebody in. Of one voter, so that `release` is a reader's.
bool is_of_the_line(const execution& what) {
    if (what.name == "queue_acquire" || what.name == "queue_release") return true;
    const bool of_reader = reads(what.arguments.front());
    return of_reader && (what.name == "release" || what.name == "extend");
}

}  // namespace

void line_watch::about_to_run(std::span<const std::string> queue, const receives& heard) {
    line_.clear();
    for (const auto& entry : queue) {
        const auto channel = entry.substr(0, entry.find(' '));
        line_.push_back({std::string(owner_in_entry(entry)), channel == "-" || heard(channel)});
    }
}

const line_watch::waiter* line_watch::find(std::string_view owner) const {
    const auto found = std::ranges::find(line_, owner, &waiter::owner);
    return found == line_.end() ? nullptr : &*found;
}

// Nobody came later than one whose arrival is not known.
bool line_watch::came_before(std::string_view one, std::string_view other) const {
    const auto first = arrivals_.find(one);
    const auto second = arrivals_.find(other);
    const bool known = first != arrivals_.end() && second != arrivals_.end();
    return known && first->second < second->second;
}

void line_watch::executed(const execution& what, const lock_change& made, instant now,
                          checkers& reports) {
    if (!is_of_the_line(what)) return;
    const auto asker = what.arguments.front();
    const bool was_askers = made.was_askers;
    // Who lets go gets nothing, even if its own entry was never taken out.
    if (was_askers) std::erase_if(line_, [&](const waiter& each) { return each.owner == asker; });
    const bool complete = now >= hindered_until_;
    if (complete) {
        for (const auto to : made.newcomers) check_grant(to, asker, made, reports);
    }
    const bool let_go = was_askers && what.after == nullptr && what.name != "queue_acquire";
    if (let_go && complete && std::ranges::any_of(line_, &waiter::there)) {
        reports.report(rule::line, "a release called nobody, although somebody stands in line");
    }
    if (what.name == "queue_acquire") note_arrival(what);
    std::swap(last_line_, line_);
    line_.clear();
}

void line_watch::check_readers_behind(const execution& what, const lock_change& made,
                                      std::span<const std::string> queue, instant now,
                                      checkers& reports) {
    const bool claims = what.name == "queue_acquire" && what.answer.starts_with("*2\r\n:1\r\n");
    const bool begins = reads(what.arguments.front()) && (claims || made.asker_wrote);
    if (!is_of_the_line(what) || !begins || queue.empty() || now < hindered_until_) return;
    const auto first = owner_in_entry(queue.front());
    const auto stood = std::ranges::find(last_line_, first, &waiter::owner);
    if (!reads(first) || stood == last_line_.end() || !stood->there) return;
    reports.report(rule::line, "a reader is left first in line behind one who reads");
}

void line_watch::check_grant(std::string_view to, std::string_view asker, const lock_change& made,
                             checkers& reports) const {
    const auto* const chosen = find(to);
    if (chosen != nullptr && !chosen->there && to != asker) {
        reports.report(rule::line, "the lock was granted to one who is not there");
    }
    for (const auto& other : line_) {
        const bool earlier = chosen == nullptr || came_before(other.owner, to);
        if (other.there && !made.holds(other.owner) && earlier) {
            reports.report(rule::line, "the lock was granted past one who came earlier");
        }
    }
}

void line_watch::note_arrival(const execution& what) {
    if (!has_place(what.answer)) return;
    const auto who = what.arguments.front();
    if (find(who) != nullptr) return;
    arrivals_.insert_or_assign(std::string(who), ++last_arrival_);
}

}  // namespace holdfast::sim
