#include "runtime/rooms.hpp"

#include <cassert>

namespace holdfast::runtime {
namespace {

constexpr std::size_t most_idle = 64;

}  // namespace

room& rooms::enter(const plan_pointer& what) {
    return enter(rooms_.try_emplace(what->keys.lock, what).first->second);
}

room& rooms::enter(room& known) {
    ++known.users_;
    return known;
}

void rooms::exit(room& from) noexcept {
    assert(from.users_ > 0);
    if (--from.users_ > 0 || from.listed_) return;
    try {
        idle_.push_back(&from);
    } catch (const std::bad_alloc&) {
        rooms_.erase(from.key());  // what it has learned is not worth more
        return;
    }
    from.listed_ = true;
    if (idle_.size() <= most_idle) return;
    auto& oldest = *idle_.front();
    idle_.pop_front();
    oldest.listed_ = false;
    if (oldest.users_ == 0) rooms_.erase(oldest.key());
}

void rooms::told(std::string_view key, core::node_index where, core::time_point now) {
    const auto found = rooms_.find(key);
    if (found == rooms_.end()) return;
    auto& here = enter(found->second);
    here.told(where, now);
    exit(here);
}

void rooms::told_all(core::node_index where, core::time_point now) {
    for (auto* const here : enter_those_with_waiters()) {
        here->told(where, now);
        exit(*here);
    }
}

// Room by room, and each time from the first: whoever is aborted leaves, and the last to leave may
// take the room along.
void rooms::abort_all() noexcept {
    for (auto next = rooms_.begin(); next != rooms_.end();) {
        auto& here = next->second;
        if (here.waiting().empty()) {
            ++next;
            continue;
        }
        enter(here);
        // From the back, so that nobody gets a turn first.
        while (!here.waiting().empty()) here.waiting().back()->abort();
        exit(here);
        next = rooms_.begin();
    }
}

std::vector<room*> rooms::enter_those_with_waiters() {
    std::vector<room*> all;
    all.reserve(rooms_.size());  // whatever throws does so before anything is entered
    for (auto& [key, here] : rooms_) {
        if (!here.waiting().empty()) all.push_back(&enter(here));
    }
    return all;
}

}  // namespace holdfast::runtime
