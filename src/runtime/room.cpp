#include "runtime/room.hpp"

#include <algorithm>

#include "runtime/hold.hpp"

namespace holdfast::runtime {

void room::join(contender& who, core::time_point now) {
    waiting_.push_back(&who);
    if (line_.join(who.id(), who.sharing())) who.turn(manners_.next(now), now);
}

void room::leave(contender& who, core::time_point now) noexcept {
    std::erase(waiting_, &who);
    give_turn(line_.leave(who.id()), {}, now);
}

void room::took(hold& lease, core::time_point now) noexcept {
    holder_ = &lease;
    give_turn(line_.took(lease.id(), lease.what().kind->sharing()), {}, now);
}

void room::freed(hold& lease, core::time_point now) noexcept {
    if (holder_ == &lease) holder_ = nullptr;
    manners_.freed(now);
    const auto next = line_.freed(lease.id());
    if (next) give_turn(next, manners_.next(now), now);
}

bool room::pass_on(hold& lease, const core::estate& left, core::time_point now) noexcept {
    if (!line_.holds(lease.id())) return false;
    const auto next = line_.heir();
    auto* const heir = next ? find(next->who) : nullptr;
    if (heir == nullptr || !heir->inherit(left, lease, next->joined, now)) return false;
    give_turn(line_.freed(lease.id()), {}, now);  // an heir that could share with it kept it in
    return true;
}

void room::denied() {
    rivals_.known = true;
    manners_.denied();
}

void room::won(const core::rivalry& met, core::time_point asked_at, core::time_point now) {
    rivals_ = met;
    manners_.won(asked_at, now);
}

void room::told(core::node_index where, core::time_point now) {
    const auto next = line_.heir();
    if (auto* const first = next ? find(next->who) : nullptr) first->told(where, now);
}

void room::give_turn(std::optional<core::local_id> to, const core::courtesy::gap& left,
                     core::time_point now) {
    if (auto* const next = find(to)) next->turn(left, now);
}

contender* room::find(std::optional<core::local_id> who) const {
    if (!who) return nullptr;
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const contender* each) { return each->id() == *who; });
    return found == waiting_.end() ? nullptr : *found;
}

}  // namespace holdfast::runtime
