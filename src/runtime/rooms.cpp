#include "runtime/rooms.hpp"

#include <algorithm>
#include <utility>

#include "runtime/hold.hpp"

namespace holdfast::runtime {
namespace {

constexpr std::size_t most_idle = 64;

}  // namespace

void rooms::join(const plan_pointer& what, contender& who, core::time_point now) {
    auto& here = open(what);
    here.waiting.push_back(&who);
    if (here.line.join(who.id())) who.turn(here.manners.next(now), now);
}

void rooms::leave(std::string_view key, contender& who, core::time_point now) {
    const auto found = rooms_.find(key);
    if (found == rooms_.end()) return;
    std::erase(found->second.waiting, &who);
    give_turn(found->second, found->second.line.leave(who.id()), {}, now);
    close_if_idle(rooms_.find(key));
}

void rooms::took(const plan_pointer& what, hold& lease) {
    auto& here = open(what);
    here.line.took(lease.id());
    here.holder = &lease;
}

void rooms::freed(std::string_view key, hold& lease, core::time_point now) {
    const auto found = rooms_.find(key);
    if (found == rooms_.end()) return;
    auto& here = found->second;
    if (here.holder == &lease) here.holder = nullptr;
    here.manners.freed(now);
    const auto next = here.line.freed(lease.id());
    give_turn(here, next, next ? here.manners.next(now) : core::courtesy::gap{}, now);
    close_if_idle(rooms_.find(key));
}

bool rooms::pass_on(std::string_view key, const hold& lease, const core::estate& left,
                    core::time_point now) {
    const auto found = rooms_.find(key);
    if (found == rooms_.end() || found->second.holder != &lease) return false;
    auto* const heir = find(found->second, found->second.line.heir());
    return heir != nullptr && heir->inherit(left, lease, now);
}

std::size_t rooms::waiting_for(std::string_view key) const {
    const auto found = rooms_.find(key);
    return found == rooms_.end() ? 0 : found->second.line.size();
}

hold* rooms::holder(std::string_view key) const {
    const auto found = rooms_.find(key);
    return found == rooms_.end() ? nullptr : found->second.holder;
}

core::rivalry rooms::rivals(std::string_view key) const {
    const auto found = rooms_.find(key);
    return found == rooms_.end() ? core::rivalry{} : found->second.rivals;
}

void rooms::denied(std::string_view key) {
    const auto found = rooms_.find(key);
    if (found == rooms_.end()) return;
    found->second.rivals.known = true;
    found->second.manners.denied();
}

void rooms::won(std::string_view key, const core::rivalry& met, core::time_point asked_at,
                core::time_point now) {
    const auto found = rooms_.find(key);
    if (found == rooms_.end()) return;
    found->second.rivals = met;
    found->second.manners.won(asked_at, now);
}

// A turn can end at once, and its room with it: nothing of the room is used after one.
void rooms::give_turn(const room& where, std::optional<core::local_id> to,
                      const core::courtesy::gap& left, core::time_point now) {
    if (auto* const next = find(where, to)) next->turn(left, now);
}

contender* rooms::find(const room& where, std::optional<core::local_id> who) {
    const auto found = std::find_if(where.waiting.begin(), where.waiting.end(),
                                    [&](const contender* each) { return each->id() == who; });
    return found == where.waiting.end() ? nullptr : *found;
}

rooms::room& rooms::open(const plan_pointer& what) {
    return rooms_.try_emplace(what->keys.lock, room{.what = what}).first->second;
}

void rooms::close_if_idle(map::iterator where) {
    if (where == rooms_.end() || !where->second.line.idle() || where->second.listed) return;
    where->second.listed = true;
    idle_.push_back(where->first);
    if (idle_.size() <= most_idle) return;
    const auto oldest = rooms_.find(idle_.front());
    idle_.pop_front();
    oldest->second.listed = false;
    if (oldest->second.line.idle()) rooms_.erase(oldest);
}

void rooms::told(std::string_view key, core::node_index where, core::time_point now) {
    const auto found = rooms_.find(key);
    if (found == rooms_.end()) return;
    const auto waiting = found->second.waiting;
    for (auto* const who : waiting) who->told(where, now);
}

void rooms::told_all(core::node_index where, core::time_point now) {
    std::vector<std::string> keys;
    for (const auto& [key, here] : rooms_) {
        if (!here.waiting.empty()) keys.emplace_back(key);
    }
    for (const auto& key : keys) told(key, where, now);
}

void rooms::abort_all() {
    std::vector<contender*> everybody;
    for (const auto& [key, here] : rooms_) {
        everybody.insert(everybody.end(), here.waiting.begin(), here.waiting.end());
    }
    for (auto* const who : everybody) who->abort();
}

}  // namespace holdfast::runtime
