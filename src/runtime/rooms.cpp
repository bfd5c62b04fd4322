#include "runtime/rooms.hpp"

#include <algorithm>
#include <utility>

#include "runtime/hold.hpp"

namespace holdfast::runtime {
namespace {

constexpr std::size_t most_spares = 64;

}  // namespace

void rooms::join(const plan_pointer& what, contender& who, core::time_point now) {
    auto& here = open(what);
    here.waiting.push_back(&who);
    if (here.line.join(who.id())) who.turn(now);
}

void rooms::leave(std::string_view key, contender& who, core::time_point now) {
    const auto found = rooms_.find(key);
    if (found == rooms_.end()) return;
    std::erase(found->second.waiting, &who);
    give_turn(found->second, found->second.line.leave(who.id()), now);
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
    if (found->second.holder == &lease) found->second.holder = nullptr;
    give_turn(found->second, found->second.line.freed(lease.id()), now);
    close_if_idle(rooms_.find(key));
}

hold* rooms::holder(std::string_view key) const {
    const auto found = rooms_.find(key);
    return found == rooms_.end() ? nullptr : found->second.holder;
}

void rooms::rivalled(std::string_view key, bool they_are) {
    const auto found = rooms_.find(key);
    if (found != rooms_.end()) found->second.rivalled = they_are;
}

bool rooms::rivalled(std::string_view key) const {
    const auto found = rooms_.find(key);
    return found != rooms_.end() && found->second.rivalled;
}

// A turn can end at once, and its room with it: nothing of the room is used after one.
void rooms::give_turn(const room& where, std::optional<core::local_id> to, core::time_point now) {
    if (!to) return;
    const auto next = std::find_if(where.waiting.begin(), where.waiting.end(),
                                   [&](const contender* who) { return who->id() == *to; });
    if (next != where.waiting.end()) (*next)->turn(now);
}

rooms::room& rooms::open(const plan_pointer& what) {
    const std::string_view key = what->keys.lock;
    if (const auto found = rooms_.find(key); found != rooms_.end()) return found->second;
    if (spares_.empty()) return rooms_.emplace(key, room{.what = what}).first->second;
    auto spare = std::move(spares_.back());
    spares_.pop_back();
    spare.key() = key;
    spare.mapped().what = what;
    return rooms_.insert(std::move(spare)).position->second;
}

void rooms::close_if_idle(map::iterator where) {
    if (where == rooms_.end() || !where->second.line.idle()) return;
    auto closed = rooms_.extract(where);
    if (spares_.size() == most_spares) return;
    auto& empty = closed.mapped();  // of contenders and holders it is already
    empty.what.reset();
    empty.rivalled = false;
    spares_.push_back(std::move(closed));
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
