#include "runtime/rooms.hpp"

#include <algorithm>
#include <utility>

#include "runtime/hold.hpp"

namespace holdfast::runtime {

void rooms::join(const std::string& key, contender& who, core::time_point now) {
    auto& here = rooms_[key];
    here.waiting.push_back(&who);
    if (here.line.join(who.id())) who.turn(now);
}

void rooms::leave(const std::string& key, contender& who, core::time_point now) {
    const auto found = rooms_.find(key);
    if (found == rooms_.end()) return;
    std::erase(found->second.waiting, &who);
    give_turn(found->second, found->second.line.leave(who.id()), now);
    close_if_idle(rooms_.find(key));
}

void rooms::took(const std::string& key, hold& lease) {
    auto& here = rooms_[key];
    here.line.took(lease.id());
    here.holder = &lease;
}

void rooms::freed(const std::string& key, hold& lease, core::time_point now) {
    const auto found = rooms_.find(key);
    if (found == rooms_.end()) return;
    if (found->second.holder == &lease) found->second.holder = nullptr;
    give_turn(found->second, found->second.line.freed(lease.id()), now);
    close_if_idle(rooms_.find(key));
}

hold* rooms::holder(const std::string& key) const {
    const auto found = rooms_.find(key);
    return found == rooms_.end() ? nullptr : found->second.holder;
}

void rooms::rivalled(const std::string& key, bool they_are) {
    const auto found = rooms_.find(key);
    if (found != rooms_.end()) found->second.rivalled = they_are;
}

bool rooms::rivalled(const std::string& key) const {
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

void rooms::close_if_idle(map::iterator where) {
    if (where != rooms_.end() && where->second.line.idle()) rooms_.erase(where);
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
        if (!here.waiting.empty()) keys.push_back(key);
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
