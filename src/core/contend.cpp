#include "core/contend.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace holdfast::core {

using namespace tuning::waiting;

denial_summary summarize(const denials& said) {
    const auto denied = said.remaining.size();
    const auto quorum = majority(said.nodes);
    const auto free = said.nodes - denied - said.unknown;  // or will be, once it answers
    if (free >= quorum) return {};
    std::array<duration, max_nodes> sorted{};
    std::copy(said.remaining.begin(), said.remaining.end(), sorted.begin());
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(denied));
    const auto needed = std::min(quorum - free, denied);
    const bool known = denied > 0 && sorted.front() >= duration{0};
    return {.remaining = known ? sorted[needed - 1] : duration{-1},
            .tracked = said.tracked,
            .split = said.strongest + said.unknown < quorum};
}

contend::contend(const config& settings)
    : config_(settings), delay_(settings.first_delay, settings.longest_delay) {}

contend::decision contend::step(const event& happened, time_point now, std::uint64_t chance) {
    if (state_ == state::done) return {};
    return std::visit([&](const auto& e) { return on(e, now, chance); }, happened);
}

contend::decision contend::on(const turn& ours, time_point now, std::uint64_t) {
    listens_ = listens_ || (ours.others.known && config_.waits);
    answered_ = answered_ || (ours.stood_behind && ours.others.known);
    spread_ = std::max(spread_, ours.others.spread);
    out_since_ = std::min(out_since_, ours.out_since);
    if (state_ == state::attempting) {
        notified_by_ =
            node_set::first(config_.nodes);  // the running attempt may have come too early
        return {.wake_at = config_.give_up_at};
    }
    if (ours.pause == duration{0} || now + ours.pause >= config_.give_up_at) return attempt();
    stepping_back_ = true;
    return sleep_until(now + ours.pause);
}

contend::decision contend::on(const attempted& answer, time_point now, std::uint64_t chance) {
    assert(state_ == state::attempting);
    answered_ = true;
    switch (answer.how) {
        case acquire::verdict::held:
        case acquire::verdict::cancelled: return finish(answer.how);
        case acquire::verdict::contended: return after_contention(answer.other, now, chance);
        case acquire::verdict::unreachable:
        case acquire::verdict::too_late: return after_outage(answer, now, chance);
        case acquire::verdict::none: break;
    }
    assert(answer.how != acquire::verdict::none);
    return finish(acquire::verdict::unreachable);
}

contend::decision contend::on(const handed_off&, time_point, std::uint64_t) {
    assert(state_ != state::attempting);
    return finish(acquire::verdict::held);
}

contend::decision contend::on(const notified& answer, time_point now, std::uint64_t chance) {
    if (state_ == state::idle) return {.wake_at = config_.give_up_at};
    notified_by_.insert(answer.node);
    if (state_ == state::attempting) return {.wake_at = config_.give_up_at};
    if (stepping_back_) return sleep_until(wake_at_);
    if (notified_by_.size() >= majority(config_.nodes)) return attempt_apart(now, chance);
    if (spread_ != duration{0})
        return sleep_until(wake_at_);  // a split vote's remains, most likely
    return sleep_until(
        std::min(wake_at_, now + settling_time + fraction_of(settling_time, chance)));
}

contend::decision contend::on(const tick&, time_point now, std::uint64_t) {
    if (now >= config_.give_up_at)
        return finish(unanswered() ? acquire::verdict::unreachable : last_);
    if (state_ != state::waiting) return {.wake_at = config_.give_up_at};
    return now >= wake_at_ ? attempt() : sleep_until(wake_at_);
}

contend::decision contend::on(const cancelled&, time_point, std::uint64_t) {
    return finish(acquire::verdict::cancelled);
}

contend::decision contend::attempt() {
    state_ = state::attempting;
    ++attempts_;
    notified_by_ = {};
    stepping_back_ = false;
    const bool listens = listens_ && config_.nodes > 1;
    return {.what = action::attempt, .wake_at = config_.give_up_at, .listens = listens};
}

// All who wait at a quorum are notified at the same moment. Where that has split the vote before,
// chance parts them.
contend::decision contend::attempt_apart(time_point now, std::uint64_t chance) {
    if (spread_ == duration{0}) return attempt();
    stepping_back_ = true;
    return sleep_until(now + fraction_of(spread_, chance));
}

contend::decision contend::finish(acquire::verdict how) {
    state_ = state::done;
    outcome_ = how;
    return {.what = action::finish};
}

contend::decision contend::sleep_until(time_point when) {
    state_ = state::waiting;
    wake_at_ = std::min(when, config_.give_up_at);
    return {.wake_at = wake_at_};
}

// After a split vote every contender releases what it got, and all would be notified of that at the
// same moment, try again at once and split the vote again. Chance has to part them: no word hastens
// it. How far apart is learned: twice as far after every split, a little less whenever somebody
// won.
contend::decision contend::after_contention(const denial_summary& other, time_point now,
                                            std::uint64_t chance) {
    last_ = acquire::verdict::contended;
    out_since_ = never;
    if (!config_.waits || now >= config_.give_up_at) return finish(last_);
    if (config_.nodes == 1) {
        if (!notified_by_.empty()) return attempt();  // the answer may be older than that
        return sleep_until(next_look_in_line(other, now, chance));
    }
    const bool listened = std::exchange(listens_, true);
    if (other.split) return step_back(now, chance);
    if (!listened) return attempt();
    spread_ = spread_ <= shortest_spread ? duration{0} : spread_ - spread_ / 8;
    if (notified_by_.size() >= majority(config_.nodes)) return attempt_apart(now, chance);
    return sleep_until(next_look(other, now, chance));
}

contend::decision contend::step_back(time_point now, std::uint64_t chance) {
    stepping_back_ = true;
    spread_ = std::clamp(spread_ * 2, shortest_spread, longest_spread);
    return sleep_until(now + spread_ / 2 + fraction_of(spread_ / 2, chance));
}

contend::decision contend::after_outage(const attempted& answer, time_point now,
                                        std::uint64_t chance) {
    last_ = answer.how;
    spread_ = duration{0};
    if (answer.hopeless || now >= config_.give_up_at) return finish(last_);
    if (answer.emptied && !std::exchange(repeated_, true)) return attempt();
    if (!config_.waits) return finish(last_);
    if (out_since_ == never) out_since_ = now;
    const auto patience_ends = after(out_since_, config_.patience);
    if (now >= patience_ends) return finish(last_);
    return sleep_until(std::min(now + delay_.next(chance), patience_ends));
}

// Called: sleep until then, with a net below in case the call is lost; who is first in line takes
// over when the lease runs out. Not called: poll, less and less often.
time_point contend::next_look_in_line(const denial_summary& other, time_point now,
                                      std::uint64_t chance) {
    const bool called = other.place > 0 && other.called;
    const auto behind = static_cast<std::int64_t>(std::max<std::size_t>(other.place, 1) - 1);
    const auto look = called
                          ? look_every - fraction_of(look_every / 8, chance) + look_later * behind
                          : delay_.next(chance);
    if (called) delay_.reset();
    if (other.remaining < duration{0}) return now + look;
    const auto expiry = other.remaining + expiry_slack + fraction_of(expiry_jitter, chance);
    return now + std::min(look, expiry + expiry_later * behind);
}

// Notified: sleep until the lease would run out, with a net below in case the word is lost.
// Not notified: poll, less and less often.
time_point contend::next_look(const denial_summary& other, time_point now, std::uint64_t chance) {
    if (!notified_by_.empty()) return now + settling_time + fraction_of(settling_time, chance);
    const bool expires = other.remaining >= duration{0};
    const auto expiry = other.remaining + expiry_slack + fraction_of(expiry_jitter, chance);
    if (other.tracked && expires) {
        delay_.reset();
        return now + std::min(expiry, config_.longest_sleep);
    }
    if (other.tracked) return now + config_.longest_sleep;
    const auto poll = delay_.next(chance);
    return now + (expires ? std::min(expiry, poll) : poll);
}

}  // namespace holdfast::core
