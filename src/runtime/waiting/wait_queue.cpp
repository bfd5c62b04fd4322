#include "runtime/waiting/wait_queue.hpp"

#include <algorithm>

#include "runtime/operations/hold.hpp"

namespace holdfast::runtime {

void wait_queue::join(contender& who, core::time_point now) {
    waiting_.push_back(&who);
    if (order_.join(who.id(), who.sharing())) who.turn(yielding_.next(now), now);
}

void wait_queue::leave(contender& who, core::time_point now) noexcept {
    std::erase(waiting_, &who);
    give_turn(order_.leave(who.id()), {}, now);
}

void wait_queue::took(hold& lease, core::time_point now) noexcept {
    holder_ = &lease;
    give_turn(order_.took(lease.id(), lease.what().kind->sharing()), {}, now);
}

void wait_queue::freed(hold& lease, core::time_point now) noexcept {
    if (holder_ == &lease) holder_ = nullptr;
    yielding_.freed(now);
    const auto next = order_.freed(lease.id());
    if (next) give_turn(next, yielding_.next(now), now);
}

bool wait_queue::hand_off(hold& lease, const core::grant& left, core::time_point now) noexcept {
    if (!order_.holds(lease.id())) return false;
    const auto next = order_.next();
    auto* const taker = next ? find(next->who) : nullptr;
    if (taker == nullptr || !taker->take_over(left, lease, next->joined, now)) return false;
    give_turn(order_.freed(lease.id()), {}, now);  // one that could share with it kept it in
    return true;
}

void wait_queue::denied() {
    contention_.known = true;
    yielding_.denied();
}

void wait_queue::won(const core::contention& met, core::time_point asked_at, core::time_point now) {
    contention_ = met;
    yielding_.won(asked_at, now);
}

void wait_queue::notified(core::node_index where, core::time_point now) {
    const auto next = order_.next();
    if (auto* const first = next ? find(next->who) : nullptr) first->notified(where, now);
}

void wait_queue::give_turn(std::optional<core::local_id> to, const core::yield_policy::gap& left,
                           core::time_point now) {
    if (auto* const next = find(to)) next->turn(left, now);
}

contender* wait_queue::find(std::optional<core::local_id> who) const {
    if (!who) return nullptr;
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const contender* each) { return each->id() == *who; });
    return found == waiting_.end() ? nullptr : *found;
}

}  // namespace holdfast::runtime
