#include "sim/check/holders.hpp"

#include <algorithm>

namespace holdfast::sim {
namespace {

constexpr std::string_view of_readers = "hr1:";
constexpr std::string_view of_writers = "hf1:";

// A lock that lives for 0 ms more is given one.
constexpr std::int64_t rounding_ms = 1;

std::int64_t expiry_of(const keyspace::entry& lock) {
    const bool for_ever = lock.expires_at_ms == keyspace::no_expiry;
    return for_ever ? for_ever_ms : lock.expires_at_ms;
}

bool names_phase(std::string_view member, std::string_view value) {
    return member.starts_with('=') && member.substr(1) == value;
}

const keyspace::entry* readers_of(const keyspace& data, const keyspace::entry& lock,
                                  keyspace::wall_time now) {
    const auto* const set = reads(lock.text) ? data.peek(readers_key, now) : nullptr;
    const bool several = set != nullptr && std::ranges::any_of(set->members, [&](const auto& each) {
                             return names_phase(each.first, lock.text);
                         });
    return several ? set : nullptr;
}

}  // namespace

bool reads(std::string_view owner) { return owner.starts_with(of_readers); }

std::string writer_of(std::string_view reader) {
    return std::string(of_writers) + std::string(reader.substr(of_readers.size()));
}

holders holders_in(const keyspace& data, keyspace::wall_time now) {
    const auto* const lock = data.peek(lock_key, now);
    if (lock == nullptr || !lock->is_string()) return {};
    holders found{.lock_until_ms = expiry_of(*lock)};
    const auto* const set = readers_of(data, *lock, now);
    if (set == nullptr) {
        found.all.push_back({lock->text, found.lock_until_ms});
        return found;
    }
    const auto now_ms = now.count() / 1000;
    for (const auto& [name, score] : set->members) {
        const auto until = static_cast<std::int64_t>(score);
        if (until >= now_ms) {
            found.all.push_back({name, until});
        } else if (until + rounding_ms >= now_ms) {
            found.ended.push_back(name);
        }
    }
    return found;
}

// Mostly nobody reads, and then there is nothing to be listed.
std::int64_t held_until_ms(const keyspace& data, std::string_view owner, keyspace::wall_time now) {
    const auto* const lock = data.peek(lock_key, now);
    if (lock == nullptr || !lock->is_string()) return 0;
    if (!reads(lock->text)) return lock->text == owner ? expiry_of(*lock) : 0;
    const auto all = holders_in(data, now);
    const auto* const found = all.find(owner);
    return found == nullptr ? 0 : all.until_ms(*found);
}

const holding* holders::find(std::string_view owner) const {
    const auto found = std::ranges::find(all, owner, &holding::owner);
    return found == all.end() ? nullptr : &*found;
}

std::int64_t holders::until_ms(const holding& which) const {
    return std::min(which.until_ms, lock_until_ms);
}

bool holders::are_outlived() const {
    return !all.empty() && std::ranges::none_of(all, [&](const holding& each) {
        return each.until_ms + rounding_ms >= lock_until_ms;
    });
}

bool lock_change::holds(std::string_view owner) const {
    return std::ranges::find(now, owner) != now.end();
}

lock_change change_by(const execution& what) {
    const auto asker = what.arguments.front();
    const bool changed =
        what.before != nullptr && (what.after == nullptr || *what.after != *what.before);
    lock_change made;
    made.was_askers = what.before != nullptr && *what.before == asker;
    made.is_askers = what.after != nullptr && *what.after == asker;
    made.took_from_others = changed && !made.was_askers;
    if (what.after == nullptr) return made;
    made.now.push_back(*what.after);
    if (what.before == nullptr || changed) made.newcomers.push_back(*what.after);
    return made;
}

lock_change change_by(const execution& what, const holders& before, const holders& after) {
    const auto asker = what.arguments.front();
    const auto wrote_as = reads(asker) ? writer_of(asker) : std::string();
    lock_change made;
    made.is_askers = after.find(asker) != nullptr;
    const bool wrote = before.find(wrote_as) != nullptr;
    made.asker_wrote = wrote && made.is_askers;
    made.was_askers = wrote || before.find(asker) != nullptr ||
                      std::ranges::find(before.ended, asker) != before.ended.end();
    for (const auto& each : before.all) {
        if (each.owner == asker || each.owner == wrote_as) continue;
        const auto* const left = after.find(each.owner);
        const bool kept =
            left != nullptr && after.until_ms(*left) + rounding_ms >= before.until_ms(each);
        made.took_from_others = made.took_from_others || !kept;
    }
    for (const auto& each : after.all) {
        made.now.push_back(each.owner);
        const bool new_here = before.find(each.owner) == nullptr;
        if (new_here && !(made.asker_wrote && each.owner == asker)) {
            made.newcomers.push_back(each.owner);
        }
    }
    return made;
}

}  // namespace holdfast::sim
