#include "runtime/operations/hold.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/tuning.hpp"
#include "kinds/shared.hpp"
#include "runtime/operations/renewal.hpp"

namespace holdfast::runtime {
namespace {

namespace tuning = core::tuning::renewal;

core::watchdog::config keeping(const plan& what, core::time_point sent_at) {
    const auto ttl = what.timing.ttl;
    // A long notice leaves less time to renew in: there must be room for a second try before it.
    const auto believed = ttl - what.timing.guard() - what.notice;
    return {.timing = what.timing,
            .renewing = what.renewing,
            .renew_every = std::min(ttl / tuning::fraction, believed / 2),
            .retry_every = std::clamp(ttl / tuning::retry_fraction, tuning::shortest_retry,
                                      tuning::longest_retry),
            .notice = what.notice,
            .hold_until = what.max_hold == core::duration{0} ? core::never
                                                             : core::after(sent_at, what.max_hold)};
}

}  // namespace

/// Not under the lock: callbacks registered with the token may call back into the client.
class hold::announcement final : public callback {
  public:
    [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

    /// At once. REQUIRES: nobody has the token yet.
    void make() { stop_.request_stop(); }

    void make_by(driver& which, std::shared_ptr<announcement> self) noexcept HOLDFAST_LOCKED {
        self_ = std::move(self);
        which.call_back(*this);
    }

  private:
    void run() override HOLDFAST_UNLOCKED {
        const auto alive = std::move(self_);
        stop_.request_stop();
    }

    std::stop_source stop_;
    std::shared_ptr<announcement> self_;  // until it was made
};

hold::hold(engine_pointer through, wait_queue& where, acquired won, core::time_point now)
    : engine_(std::move(through)),
      acquired_(std::move(won)),
      id_(engine_->next_id()),
      acquired_at_(now),
      queue_(&engine_->queues().open(what(), where)),
      watchdog_(keeping(*acquired_.what, acquired_.gained.sent_at), acquired_.gained.sent_at,
                acquired_.gained.valid_until),
      longest_asked_(acquired_.what->timing.ttl),
      valid_until_(watchdog_.valid_until()) {}

hold::~hold() { assert((ended_ && queue_ == nullptr) || engine_->in_child()); }

core::time_point hold::valid_until() const { return valid_until_.load(std::memory_order_acquire); }

bool hold::lost(core::time_point now) const {
    return gone_.load(std::memory_order_acquire) || now >= valid_until() || engine_->in_child();
}

// A child's own memory says nothing about what its parent does with the lease.
const std::string& hold::show_owner() noexcept {
    static const std::string none;
    if (engine_->in_child()) {
        const bool known = owner_state_.load(std::memory_order_acquire) == owner_state::shown;
        return known ? acquired_.owner : none;
    }
    auto was = owner_state::unseen;
    owner_state_.compare_exchange_strong(was, owner_state::shown, std::memory_order_acq_rel);
    if (was != owner_state::handed_off) return acquired_.owner;
    const auto lock = engine_->lock();
    try {
        if (acquired_.owner.empty()) {
            acquired_.owner = engine_->make_owner(*acquired_.what->kind, acquired_.what->label);
        }
        return acquired_.owner;
    } catch (...) {
        return none;  // which is nobody's, either
    }
}

std::optional<std::string> hold::hand_off_owner() {
    auto was = owner_state::unseen;
    if (!owner_state_.compare_exchange_strong(was, owner_state::handed_off,
                                              std::memory_order_acq_rel)) {
        return std::nullopt;
    }
    return std::exchange(acquired_.owner, {});
}

void hold::take_back_owner(std::string owner) noexcept {
    acquired_.owner = std::move(owner);
    owner_state_.store(owner_state::unseen, std::memory_order_release);
}

std::stop_token hold::stop_token() {
    if (engine_->in_child()) {
        std::stop_source lost;
        lost.request_stop();
        return lost.get_token();
    }
    const auto lock = engine_->lock();
    if (!announcement_) {
        announcement_ = std::make_shared<announcement>();
        if (announced()) announcement_->make();
    }
    return announcement_->token();
}

void hold::start(core::time_point now) noexcept {
    engine_->enter(*this);
    each_queue([&](wait_queue& here) HOLDFAST_LOCKED { here.took(*this, now); });
}

template <typename Visit>
void hold::each_queue(Visit&& visit) {
    engine_->queues().each(what(), *queue_, std::forward<Visit>(visit));
}

void hold::attend(core::time_point now) noexcept {
    if (!ended_) due(now);
}

void hold::due(core::time_point now) noexcept { carry_out(watchdog_.due(now), now); }

void hold::renewed(const core::renew& attempt, core::time_point now) noexcept {
    if (ended_) return;
    if (queue_ != nullptr) {
        each_queue([&](wait_queue& here) HOLDFAST_LOCKED { here.untracked(now); });
    }
    if (attempt.current() == core::renew::state::extended) ++engine_->counters().renewed;
    const auto next = watchdog_.renewed(attempt, now);
    valid_until_.store(watchdog_.valid_until(), std::memory_order_release);
    carry_out(next, now);
}

void hold::found_gone(core::time_point now) noexcept {
    if (!ended_) carry_out(watchdog_.found_gone(), now);
}

core::grant hold::leaves(core::time_point now) const {
    auto left = acquired_.gained;
    const bool sound = watchdog_.current() == core::watchdog::state::held && !lost(now);
    left.unchanged = left.unchanged && sound;
    left.shown = owner_state_.load(std::memory_order_acquire) == owner_state::shown;
    return left;
}

// The timer comes first: a renewal may be decided at once, and then sets it again.
void hold::carry_out(const core::watchdog::decision& next, core::time_point now) noexcept {
    if (next.what == core::watchdog::action::lose) return lose(now);
    if (!ended_ && watchdog_.current() != core::watchdog::state::lost) {
        engine_->set(*this, next.wake_at);
    }
    if (next.what == core::watchdog::action::renew) renew(next.ttl, now);
    if (next.what == core::watchdog::action::announce) announce();
}

void hold::renew(core::duration ttl, core::time_point now) noexcept {
    try {
        renewal::start(shared_from_this(), ttl, now);
    } catch (const std::bad_alloc&) {
        carry_out(watchdog_.not_renewed(now), now);
    }
}

void hold::announce() noexcept {
    if (announced_.exchange(true, std::memory_order_acq_rel)) return;
    if (!gone_.load(std::memory_order_acquire)) {
        engine_->log(log_level::warning, "lease_ending",
                     "the lease will not be renewed; its deadline is near", acquired_.what->name());
    }
    if (announcement_) announcement_->make_by(engine_->driving(), announcement_);
}

void hold::lose(core::time_point now) noexcept {
    if (gone_.exchange(true, std::memory_order_acq_rel)) return;
    ++engine_->counters().lost;
    depart(now);
    engine_->log(log_level::error, "lease_lost", "the lease is lost", acquired_.what->name());
    announce();
    engine_->cancel(*this);
    vacate(now);
}

// What is left is looked at while it is held; from then on nothing of it is believed. The release
// comes before the queue is left: whoever is next there asks behind it.
release_path hold::release(releasing::listener done) noexcept {
    const auto now = engine_->now();
    const auto left = leaves(now);
    if (!end(now)) return release_path::ended_before;
    gone_.store(true, std::memory_order_release);
    if (hand_off(left, now)) {
        ++engine_->counters().released;
        return release_path::handed_off;
    }
    const bool sent = send_release(std::move(done), now);
    vacate(now);
    engine_->submit();
    return sent ? release_path::sent : release_path::owed;
}

// Whether it was sent. Otherwise every voter is owed it.
bool hold::send_release(releasing::listener done, core::time_point now) noexcept {
    try {
        releasing::start(
            *engine_,
            {.what = acquired_.what, .owner = shared_owner(), .key_gone_at = key_gone_at()}, now,
            std::move(done));
        return true;
    } catch (const std::bad_alloc&) {
        const auto whom = engine_->voters_of(acquired_.what->keys.lock);
        for (const auto voter : whom.voters()) {
            engine_->owed().owe(whom.node_of(voter), acquired_.what, acquired_.owner,
                                key_gone_at());
        }
        return false;
    }
}

void hold::detach() noexcept {
    const auto now = engine_->now();
    if (!ended_) engine_->detached(acquired_.owner);
    if (end(now)) vacate(now);
    engine_->submit();
}

// The servers are told before the queue: who of this client waits to read asks behind that.
std::shared_ptr<hold> hold::become_reader(std::function<void(const renewal&)> told,
                                          core::time_point now) {
    auto gained = acquired_.gained;
    gained.valid_until = valid_until();
    gained.hand_offs_left = 0;
    engine_->reserve_hold();
    engine_->note_use(kinds::shared());
    queue_->reserve_holder(kinds::shared());
    auto reader = std::make_shared<hold>(
        engine_, *queue_,
        acquired{as_kind(what(), kinds::shared()), kinds::reader_of(acquired_.owner), gained}, now);
    reader->longest_asked_ = longest_asked_;
    engine_->enter(*reader);
    try {
        renewal::start(reader, what().timing.ttl, now, std::move(told));
    } catch (const std::bad_alloc&) {
        reader->abandon(now);
        throw;
    }
    end(now);
    gone_.store(true, std::memory_order_release);
    if (reader->queue_ != nullptr) {
        reader->queue_->took(*reader, now);
    } else {
        queue_->freed(*this, now);  // the reader is lost already, and nobody holds it any more
    }
    engine_->queues().close(what(), *std::exchange(queue_, nullptr));
    reader->attend(now);
    return reader;
}

// Nobody has heard of it.
void hold::abandon(core::time_point now) noexcept {
    end(now);
    engine_->queues().close(what(), *std::exchange(queue_, nullptr));
}

bool hold::end(core::time_point now) noexcept {
    if (std::exchange(ended_, true)) return false;
    watchdog_.close();
    engine_->cancel(*this);
    depart(now);
    return true;
}

void hold::depart(core::time_point now) noexcept {
    if (std::exchange(departed_, true)) return;
    engine_->counters().hold_time.add(now - acquired_at_);
    engine_->leave(*this);
}

bool hold::hand_off(const core::grant& left, core::time_point now) noexcept {
    if (queue_ == nullptr || !queue_->hand_off(*this, left, now)) return false;
    engine_->queues().close(what(), *std::exchange(queue_, nullptr));
    return true;
}

void hold::vacate(core::time_point now) noexcept {
    if (queue_ == nullptr) return;
    auto& from = *std::exchange(queue_, nullptr);
    engine_->queues().each(what(), from,
                           [&](wait_queue& here) HOLDFAST_LOCKED { here.freed(*this, now); });
    engine_->queues().close(what(), from);
}

core::time_point hold::key_gone_at() const { return engine_->now() + longest_asked_; }

}  // namespace holdfast::runtime
