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

void rooms::exit(room& from) {
    assert(from.users_ > 0);
    if (--from.users_ > 0 || from.listed_) return;
    from.listed_ = true;
    idle_.push_back(&from);
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

void rooms::abort_all() {
    for (auto* const here : enter_those_with_waiters()) {
        // From the back, so that nobody gets a turn first. Whoever is aborted leaves, and may be
        // gone for good.
        while (!here->waiting().empty()) here->waiting().back()->abort();
        exit(*here);
    }
}

std::vector<room*> rooms::enter_those_with_waiters() {
    std::vector<room*> all;
    for (auto& [key, here] : rooms_) {
        if (!here.waiting().empty()) all.push_back(&enter(here));
    }
    return all;
}

}  // namespace holdfast::runtime
