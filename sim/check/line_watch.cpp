#include "sim/check/line_watch.hpp"

#include <algorithm>

#include "sim/check/checkers.hpp"

namespace holdfast::sim {
namespace {

// A denial is `*4`: zero, the holder, its time, the place. The place is the last line.
bool has_place(std::string_view answer) {
    return answer.starts_with("*4\r\n:0\r\n") && !answer.ends_with("\r\n:0\r\n");
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

void line_watch::executed(const execution& what, instant now, checkers& reports) {
    if (what.name != "queue_acquire" && what.name != "queue_release") return;
    const auto asker = what.arguments.front();
    const bool was_askers = what.before != nullptr && *what.before == asker;
    // Who lets go gets nothing, even if its own entry was never taken out.
    if (was_askers) std::erase_if(line_, [&](const waiter& each) { return each.owner == asker; });
    const bool changed =
        what.after != nullptr && (what.before == nullptr || *what.before != *what.after);
    const bool complete = now >= hindered_until_;
    if (changed && complete) check_grant(*what.after, asker, reports);
    const bool let_go = what.name == "queue_release" && was_askers && what.after == nullptr;
    if (let_go && complete && std::ranges::any_of(line_, &waiter::there)) {
        reports.report(rule::line, "a release called nobody, although somebody stands in line");
    }
    if (what.name == "queue_acquire") note_arrival(what);
    line_.clear();
}

void line_watch::check_grant(std::string_view to, std::string_view asker, checkers& reports) const {
    const auto* const chosen = find(to);
    if (chosen != nullptr && !chosen->there && to != asker) {
        reports.report(rule::line, "the lock was granted to one who is not there");
    }
    for (const auto& other : line_) {
        const bool earlier = chosen == nullptr || came_before(other.owner, to);
        if (other.there && other.owner != to && earlier) {
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
