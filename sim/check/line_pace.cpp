#include "sim/check/line_pace.hpp"

#include <algorithm>

#include "core/tuning.hpp"
#include "kinds/calls.hpp"
#include "sim/check/checkers.hpp"

namespace holdfast::sim {
namespace {

using core::tuning::waiting::look_every;

// So long the same is first in line behind the same holder until it is sure to listen.
constexpr core::duration settled = look_every * 3 / 2;

bool is_grant(std::string_view answer) { return answer.starts_with("*2\r\n:1\r\n"); }

}  // namespace

std::string_view owner_in_entry(std::string_view entry) {
    const auto since = entry.find(' ') + 1;
    return entry.substr(entry.find(' ', since) + 1);
}

// Each leg as slow as is not yet called a disturbance, a script that is missing, and time between
// two looks of ours.
core::duration line_pace::slack() const {
    return world_.settings().base_delay * 16 + std::chrono::milliseconds(50);
}

void line_pace::forget() {
    granted_.clear();
    holder_.reset();
    head_.reset();
    deleted_.reset();
    free_since_ = instant::max();
}

void line_pace::executed(const execution& what, const lock_change& made) {
    if (what.after != nullptr) free_since_ = instant::max();
    const auto asker = what.arguments.front();
    const auto claimed = [&](const since& each) { return each.owner == asker; };
    // Who holds it already may be granted it by an entry that a crash has brought back.
    const bool extends = what.name == "extend" && what.answer == ":1\r\n";
    if (extends) std::erase_if(granted_, claimed);
    const bool asks = what.name == "queue_acquire";
    const bool by_reader = reads(asker) && (extends || what.name == "release");
    if (!asks && what.name != "queue_release" && !by_reader) return;
    if (deleted_ && (what.after != nullptr || asker == deleted_->owner)) deleted_.reset();
    std::erase_if(granted_, [&](const since& each) { return !made.holds(each.owner); });
    for (const auto owner : made.newcomers) {
        if (owner != asker) granted_.push_back({std::string(owner), world_.now()});
    }
    if (asks && is_grant(what.answer)) std::erase_if(granted_, claimed);
}

void line_pace::note(std::optional<since>& what, const std::string* owner) const {
    if (owner == nullptr) return what.reset();
    const auto name = owner_in_entry(*owner);
    if (!what || what->owner != name) what = since{std::string(name), world_.now()};
}

void line_pace::look(const sight& now, checkers& reports) {
    if (holder_ && (now.lock == nullptr || holder_->owner != *now.lock)) holder_.reset();
    if (now.lock != nullptr && !holder_) holder_ = since{*now.lock, world_.now()};
    note(head_, now.queue.empty() ? nullptr : &now.queue.front());
    if (now.lock != nullptr) free_since_ = instant::max();
    if (now.lock == nullptr) free_since_ = std::min(free_since_, world_.now());
    std::erase_if(granted_, [&](const since& each) { return !now.holds(each.owner); });
    for (const auto& each : granted_) look_at_grant(each, now, reports);
    look_at_free_lock(now, reports);
    look_at_deletion(now, reports);
}

void line_pace::look_at_grant(const since& granted, const sight& now, checkers& reports) const {
    const auto lasts = world_.now() - granted.at;
    const bool steady = world_.settings().wall_jump == core::duration{0};
    if (steady && lasts > kinds::granted_for + slack()) {
        reports.report(rule::stall, "a grant that nobody has claimed lasts for " + seconds(lasts));
    }
    const auto able = now.able_since(granted.owner);
    if (able != instant::max() &&
        world_.now() - std::max(able, granted.at) > look_every + slack()) {
        reports.report(rule::stall, "whoever was granted the lock " + seconds(lasts) +
                                        " ago could have asked, and has not");
    }
}

void line_pace::look_at_free_lock(const sight& now, checkers& reports) const {
    if (now.lock != nullptr) return;
    for (const auto& entry : now.queue) {
        const auto able = now.able_since(owner_in_entry(entry));
        if (able == instant::max()) continue;
        const auto waits = world_.now() - std::max(able, free_since_);
        if (waits <= look_every + slack()) continue;
        reports.report(rule::stall,
                       "somebody stands in line and could have asked, and nobody has "
                       "had the lock for " +
                           seconds(waits));
    }
}

void line_pace::deleted(const sight& before) {
    const auto long_ago = [&](const std::optional<since>& what) {
        return what && world_.now() - what->at > settled;
    };
    if (before.lock == nullptr || before.queue.empty() || !long_ago(holder_) || !long_ago(head_)) {
        return;
    }
    const auto first = owner_in_entry(before.queue.front());
    const bool same = holder_->owner == *before.lock && head_->owner == first;
    const auto able = before.able_since(first);
    const bool listens = able < world_.now() && world_.now() - able > settled;
    if (!same || !listens || !before.is_told(first)) return;
    deleted_ = since{std::string(first), world_.now()};
}

void line_pace::look_at_deletion(const sight& now, checkers& reports) {
    if (!deleted_ || world_.now() - deleted_->at <= slack()) return;
    const auto [first, at] = *std::exchange(deleted_, std::nullopt);
    const bool stands = !now.queue.empty() && owner_in_entry(now.queue.front()) == first;
    const auto able = now.able_since(first);
    if (now.lock != nullptr || !stands || able > at) return;
    reports.report(rule::stall, "the first in line has not asked, although the lock was deleted " +
                                    seconds(world_.now() - at) + " ago");
}

}  // namespace holdfast::sim
