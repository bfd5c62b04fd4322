#include "runtime/waiting/wait_queue.hpp"

#include <algorithm>

#include "runtime/operations/hold.hpp"

namespace holdfast::runtime {

void wait_queue::join(contender& who, core::time_point now) {
    waiting_.push_back(&who);
    if (order_.join(who.id(), who.sharing())) who.turn(gap(now), now);
}

void wait_queue::join_apart(contender& who) {
    waiting_.push_back(&who);
    ++apart_;
}

// The queue at the only voter lets others come first.
core::duration wait_queue::gap(core::time_point now) {
    return queued_ ? core::duration{0} : yielding_.pause(now);
}

void wait_queue::leave(contender& who, core::time_point now) noexcept {
    if (std::erase(waiting_, &who) > 0 && who.apart()) --apart_;
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
    if (next) give_turn(next, gap(now), now);
}

contender* wait_queue::next_after(const hold& lease) const {
    const auto next = order_.holds(lease.id()) ? order_.next() : std::nullopt;
    return next ? find(next->who) : nullptr;
}

bool wait_queue::hand_off(hold& lease, const core::grant& left, core::time_point now) noexcept {
    auto* const taker = next_after(lease);
    if (taker == nullptr || !taker->take_over(left, lease, order_.next()->joined, now))
        return false;
    give_turn(order_.freed(lease.id()), {}, now);  // one that could share with it kept it in
    return true;
}

void wait_queue::denied() {
    quiet_until_ = {};
    out_since_ = core::never;
    contention_.known = true;
    yielding_.denied();
}

void wait_queue::won(const core::contention& met, core::time_point asked_at, core::time_point now) {
    out_since_ = core::never;
    contention_ = met;
    yielding_.won(asked_at, now);
}

void wait_queue::notified(core::node_index where, core::time_point now) {
    const auto next = order_.next();
    if (auto* const first = next ? find(next->who) : nullptr) first->notified(where, now);
    if (apart_ == 0) return;
    // Who is notified may be done, and leave; who joins meanwhile has not asked yet.
    auto untold = waiting_.size();
    for (std::size_t n = 0; n < waiting_.size() && untold > 0; --untold) {
        auto* const each = waiting_[n];
        if (each->apart()) each->notified(where, now);
        if (n < waiting_.size() && waiting_[n] == each) ++n;
    }
}

// Of the local queue the second is next, if `who` is the first. It has its turn then, and looks
// after the place, unless a lease of this client keeps it out.
bool wait_queue::pass_place_on(const contender& who, std::string& owner,
                               const kinds::entry& entry) {
    if (holder_ != nullptr) return false;
    const auto next = std::find_if(waiting_.begin(), waiting_.end(), [&](const contender* each) {
        return each != &who && !each->apart();
    });
    return next != waiting_.end() && (*next)->take_place(who.what(), owner, entry);
}

void wait_queue::untracked(core::time_point now) noexcept {
    for (auto n = waiting_.size(); n-- > 0;) waiting_[n]->untracked(now);  // who cannot leaves
}

bool wait_queue::called(std::string_view owner, core::time_point now) {
    const auto found =
        std::find_if(waiting_.begin(), waiting_.end(),
                     [&](const contender* each) HOLDFAST_LOCKED { return each->waits_as(owner); });
    if (found == waiting_.end()) return false;
    (*found)->called(now);
    return true;
}

void wait_queue::give_turn(std::optional<core::local_id> to, core::duration pause,
                           core::time_point now) {
    if (auto* const next = find(to)) next->turn(pause, now);
}

contender* wait_queue::find(std::optional<core::local_id> who) const {
    if (!who) return nullptr;
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const contender* each) { return each->id() == *who; });
    return found == waiting_.end() ? nullptr : *found;
}

}  // namespace holdfast::runtime
