#include "core/acquire.hpp"

#include <algorithm>
#include <cassert>

namespace holdfast::core {

acquire::acquire(const config& settings) : config_(settings) {
    assert(settings.nodes >= 1 && settings.nodes <= max_nodes);
    assert(settings.timing.ttl > settings.timing.guard());
}

acquire::actions acquire::start(time_point now) {
    assert(state_ == state::idle);
    state_ = state::collecting;
    started_at_ = now;
    pending_ = node_set::first(config_.nodes);
    return {.acquire_on = pending_};
}

acquire::actions acquire::step(const event& happened, time_point now) {
    assert(state_ != state::idle);
    return std::visit([&](const auto& e) { return on(e, now); }, happened);
}

time_point acquire::valid_until() const { return config_.timing.valid_until(started_at_); }

acquire::actions acquire::on(const granted& answer, time_point now) {
    if (state_ == state::failed) return {};
    pending_.erase(answer.node);
    unknown_.erase(answer.node);
    granted_.insert(answer.node);
    counter_[answer.node.value] = answer.counter;
    if (state_ != state::held) return decide(now);
    // A straggler. Its vote is welcome; bringing its counter up keeps the next acquire at one
    // round trip. A counter above the token stays: the token was fixed when we decided.
    return answer.counter < token_ ? bring_up(node_set::of(answer.node)) : actions{};
}

acquire::actions acquire::on(const denied& answer, time_point now) {
    if (decided()) return {};
    pending_.erase(answer.node);
    unknown_.erase(answer.node);
    denied_.insert(answer.node);
    return decide(now);
}

acquire::actions acquire::on(const unknown& answer, time_point now) {
    if (decided()) return {};
    pending_.erase(answer.node);
    granted_.erase(answer.node);
    unknown_.insert(answer.node);
    return decide(now);
}

acquire::actions acquire::on(const committed& answer, time_point now) {
    assert(state_ != state::collecting);
    if (decided()) return {};
    auto& counter = counter_[answer.node.value];
    counter = std::max(counter, answer.token);
    return decide(now);
}

acquire::actions acquire::on(const disowned& answer, time_point now) {
    assert(state_ != state::collecting);
    if (decided()) return {};
    granted_.erase(answer.node);
    denied_.insert(answer.node);
    return decide(now);
}

acquire::actions acquire::on(const cancelled&, time_point) {
    return decided() ? actions{} : fail(verdict::cancelled);
}

acquire::actions acquire::decide(time_point now) {
    const auto quorum = majority(config_.nodes);
    if (granted_.size() + pending_.size() < quorum) return fail(failure());
    if (granted_.size() < quorum) return {};
    return commit_or_hold(now);
}

// The token never sinks, and rises with every straggler's counter until q nodes stand at it:
// a node may be counted as committed only for a token that its own grant went into.
acquire::actions acquire::commit_or_hold(time_point now) {
    state_ = state::committing;
    granted_.for_each([&](node_index node) { token_ = std::max(token_, counter_[node.value]); });
    const auto up = committed_nodes();
    if (up.size() >= majority(config_.nodes)) return hold(now);
    return bring_up(granted_ - up - awaiting_commit());
}

// Nobody behind is left without a commit: each step on the way here has sent it to all of them.
acquire::actions acquire::hold(time_point now) {
    const auto enough = std::max(config_.timing.min_validity, duration{1});
    if (valid_until() - now < enough) return fail(verdict::too_late);
    state_ = state::held;
    verdict_ = verdict::held;
    return {.decided = true};
}

// Where everybody has denied, nothing of ours can have landed. Anything else is cleaned up
// everywhere: an unknown request may have landed, and a denial costs little to confirm.
acquire::actions acquire::fail(verdict why) {
    state_ = state::failed;
    verdict_ = why;
    const auto all = node_set::first(config_.nodes);
    return {.release_on = denied_ == all ? node_set{} : all, .decided = true};
}

acquire::actions acquire::bring_up(node_set behind) {
    behind.for_each([&](node_index node) { commit_sent_[node.value] = token_; });
    return {.commit_on = behind, .commit = behind.empty() ? fencing_token{} : token_};
}

node_set acquire::committed_nodes() const {
    node_set result;
    granted_.for_each([&](node_index node) {
        if (counter_[node.value] == token_) result.insert(node);
    });
    return result;
}

node_set acquire::awaiting_commit() const {
    node_set result;
    granted_.for_each([&](node_index node) {
        if (commit_sent_[node.value] == token_ && counter_[node.value] < token_) {
            result.insert(node);
        }
    });
    return result;
}

// Who has not answered yet is not out of reach: with one of three nodes down, a single denial
// decides, and that is contention.
acquire::verdict acquire::failure() const {
    const auto in_reach = config_.nodes - unknown_.size();
    return in_reach >= majority(config_.nodes) ? verdict::contended : verdict::unreachable;
}

}  // namespace holdfast::core
