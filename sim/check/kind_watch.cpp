#include "sim/check/kind_watch.hpp"

#include <algorithm>

#include "sim/check/checkers.hpp"

namespace holdfast::sim {
namespace {

const possession* find(const std::vector<possession>& all, std::string_view owner) {
    const auto found = std::ranges::find(all, owner, &possession::owner);
    return found == all.end() ? nullptr : &*found;
}

bool names_lock(const execution& what, std::span<const std::string_view> locks) {
    return !what.name.empty() && !what.arguments.empty() && !what.keys.empty() &&
           std::ranges::find(locks, what.keys.front()) != locks.end();
}

bool is_refused(const execution& what) { return what.answer.starts_with('-'); }

}  // namespace

kind_watch::lock_state kind_watch::look_at(std::string_view lock, const keyspace& data,
                                           keyspace::wall_time now, const receives& heard) const {
    lock_state found{.held = possessions_at(data, lock, now), .line = {}};
    const auto* const queue = data.peek(queue_beside(lock), now);
    if (queue == nullptr) return found;
    for (const auto& entry : queue->items) {
        const auto channel = entry.substr(0, entry.find(' '));
        found.line.push_back(
            {std::string(owner_in_entry(entry)), channel == "-" || (heard && heard(channel))});
    }
    return found;
}

void kind_watch::about_to_run(const keyspace& data, keyspace::wall_time now,
                              const receives& heard) {
    before_.clear();
    for (const auto lock : locks_of(world_.settings().kind)) {
        before_.push_back(look_at(lock, data, now, heard));
    }
}

void kind_watch::executed(const execution& what, const keyspace& data) {
    const auto locks = locks_of(world_.settings().kind);
    if (!names_lock(what, locks) || before_.size() != locks.size()) return;
    const bool hindered = world_.now() < reports_.line().hindered_until();
    for (std::size_t n = 0; n < locks.size(); ++n) {
        const auto after = look_at(locks[n], data, what.now, {});
        check_others(what, before_[n], after);
        check_expiry(locks[n], data, what.now);
        if (world_.settings().kind.permits > 0) check_slots(after);
        if (hindered || !world_.settings().alone()) continue;
        // Older data put some back in line who came in another order since.
        if (!world_.settings().forgets()) check_line(what, before_[n], after);
        // What is owed is released key by key.
        const bool named = std::ranges::find(what.keys, locks[n]) != what.keys.end();
        if (named) check_left(what, after);
        if (world_.settings().kind.permits > 0) check_free(what, before_[n], after);
    }
}

void kind_watch::check_others(const execution& what, const lock_state& before,
                              const lock_state& after) {
    const auto asker = what.arguments.front();
    for (const auto& each : before.held) {
        if (each.owner == asker) continue;
        const auto* const left = find(after.held, each.owner);
        if (left != nullptr && left->slot == each.slot && left->until_ms >= each.until_ms) continue;
        reports_.report(rule::ownership, std::string(what.name) + " of " + std::string(asker) +
                                             " takes from " + each.owner + " what it has");
    }
}

void kind_watch::check_slots(const lock_state& after) {
    const auto& held = after.held;
    for (auto one = held.begin(); one != held.end(); ++one) {
        const auto other = std::ranges::find(one + 1, held.end(), one->slot, &possession::slot);
        if (other == held.end()) continue;
        reports_.report(rule::permits, one->owner + " and " + other->owner + " both have slot " +
                                           std::to_string(one->slot));
    }
    if (held.size() <= world_.settings().kind.permits) return;
    reports_.report(rule::permits, std::to_string(held.size()) + " have permits of " +
                                       std::to_string(world_.settings().kind.permits));
}

// Whoever is let in has left the line, or never stood in it.
void kind_watch::check_line(const execution& what, const lock_state& before,
                            const lock_state& after) {
    for (const auto& each : after.held) {
        if (find(before.held, each.owner) != nullptr) continue;
        const auto stood = std::ranges::find(before.line, each.owner, &waiter::owner);
        const bool gone = stood != before.line.end() && !stood->there;
        if (gone && each.owner != what.arguments.front()) {
            reports_.report(rule::line, each.owner + " is let in, and is not there");
        }
        for (const auto& other : before.line) {
            if (other.owner == each.owner) break;
            const bool stays =
                std::ranges::find(after.line, other.owner, &waiter::owner) != after.line.end();
            // Who wants several keys and has lost one of its places enters all lines anew.
            const bool anew = other.owner == what.arguments.front();
            if (!other.there || !stays || anew) continue;
            reports_.report(rule::line, each.owner + " is let in past " + other.owner +
                                            ", which stands in line and can be called");
        }
    }
}

void kind_watch::check_left(const execution& what, const lock_state& after) {
    const auto asker = what.arguments.front();
    if (!what.name.ends_with("release") || is_refused(what)) return;
    if (find(after.held, asker) != nullptr) {
        reports_.report(rule::orphan, std::string(asker) + " has let go, and still holds");
    }
    const bool waits = std::ranges::find(after.line, asker, &waiter::owner) != after.line.end();
    const bool said = what.arguments.size() > 1 && !what.arguments[1].empty();
    if (!waits || !said) return;
    reports_.report(rule::orphan, std::string(asker) + " has left, and still stands in line");
}

void kind_watch::check_expiry(std::string_view lock, const keyspace& data,
                              keyspace::wall_time now) {
    const auto* const found = data.peek(lock, now);
    if (found == nullptr || found->expires_at_ms != keyspace::no_expiry) return;
    reports_.report(rule::orphan, std::string(lock) + " is kept for ever");
}

// Who comes or lets go leaves nobody in line who could be let in. One who stands there since this
// command was there to send it.
void kind_watch::check_free(const execution& what, const lock_state& before,
                            const lock_state& after) {
    const bool had = find(before.held, what.arguments.front()) != nullptr;
    const bool grants = what.name == "acquire" || (what.name == "release" && had);
    if (!grants || is_refused(what) || after.held.size() >= world_.settings().kind.permits) return;
    for (const auto& each : after.line) {
        const auto stood = std::ranges::find(before.line, each.owner, &waiter::owner);
        if (stood != before.line.end() && !stood->there) continue;
        reports_.report(rule::stall, each.owner + " stands in line although a permit is free");
    }
}

}  // namespace holdfast::sim
