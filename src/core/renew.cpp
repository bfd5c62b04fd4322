#include "core/renew.hpp"

#include <algorithm>
#include <cassert>

namespace holdfast::core {

renew::renew(const config& settings) : config_(settings), valid_until_(settings.old_deadline) {
    assert(settings.nodes >= 1 && settings.nodes <= max_nodes);
}

renew::actions renew::start(time_point now) {
    assert(state_ == state::idle);
    sent_at_ = now;
    if (now >= config_.old_deadline) return finish(state::lost);
    state_ = state::extending;
    pending_ = node_set::first(config_.nodes);
    return {.extend_on = pending_};
}

renew::actions renew::step(const event& happened, time_point now) {
    assert(state_ != state::idle);
    return std::visit([&](const auto& e) { return on(e, now); }, happened);
}

renew::actions renew::on(const extended& answer, time_point now) {
    pending_.erase(answer.node);
    extended_.insert(answer.node);
    return decide(now);
}

renew::actions renew::on(const disowned& answer, time_point now) {
    pending_.erase(answer.node);
    disowned_.insert(answer.node);
    return decide(now);
}

renew::actions renew::on(const unknown& answer, time_point now) {
    pending_.erase(answer.node);
    return decide(now);
}

renew::actions renew::decide(time_point now) {
    if (state_ != state::extending) return {};
    const auto quorum = majority(config_.nodes);
    if (now >= config_.old_deadline) return finish(state::lost);
    if (extended_.size() >= quorum) {
        valid_until_ = std::max(valid_until_, config_.timing.valid_until(sent_at_));
        return finish(state::extended);
    }
    if (disowned_.size() > config_.nodes - quorum) return finish(state::lost);
    if (extended_.size() + pending_.size() < quorum) return finish(state::unconfirmed);
    return {};
}

renew::actions renew::finish(state how) {
    state_ = how;
    return {.decided = true};
}

}  // namespace holdfast::core
