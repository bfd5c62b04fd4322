#include "core/release.hpp"

#include <cassert>

namespace holdfast::core {

release::release(std::size_t nodes) : nodes_(nodes) { assert(nodes >= 1 && nodes <= max_nodes); }

release::actions release::start() {
    assert(state_ == state::idle);
    state_ = state::releasing;
    pending_ = node_set::first(nodes_);
    return {.release_on = pending_};
}

release::actions release::step(const event& happened) {
    assert(state_ != state::idle);
    const auto node = std::visit([](const auto& e) { return e.node; }, happened);
    pending_.erase(node);
    if (std::holds_alternative<released>(happened)) released_.insert(node);
    if (std::holds_alternative<disowned>(happened)) disowned_.insert(node);
    return state_ == state::decided ? actions{} : decide();
}

release::actions release::decide() {
    const auto quorum = majority(nodes_);
    if (released_.size() >= quorum) return finish(verdict::released);
    if (disowned_.size() > nodes_ - quorum) return finish(verdict::already_lost);
    if (pending_.empty()) return finish(verdict::unknown);
    return {};
}

release::actions release::finish(verdict how) {
    state_ = state::decided;
    verdict_ = how;
    return {.decided = true};
}

}  // namespace holdfast::core
