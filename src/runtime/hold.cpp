#include "runtime/hold.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "holdfast/clock.hpp"
#include "runtime/renewal.hpp"

namespace holdfast::runtime {
namespace {

core::keeper::config keeping(const plan& what, core::time_point sent_at) {
    const auto ttl = what.timing.ttl;
    // A long notice leaves less time to renew in: there must be room for a second try before it.
    const auto believed = ttl - what.timing.guard() - what.notice;
    return {.timing = what.timing,
            .renewing = what.renewing,
            .renew_every = std::min(ttl / 3, believed / 2),
            .retry_every = std::clamp(ttl / 30, core::duration(std::chrono::milliseconds(10)),
                                      core::duration(std::chrono::seconds(1))),
            .notice = what.notice,
            .hold_until = what.max_hold == core::duration{0} ? core::never
                                                             : core::after(sent_at, what.max_hold)};
}

}  // namespace

hold::hold(engine_pointer through, room& where, grant won, core::time_point now)
    : engine_(std::move(through)),
      grant_(std::move(won)),
      id_(engine_->next_id()),
      acquired_at_(now),
      room_(&engine_->waiting().enter(where)),
      keeper_(keeping(*grant_.what, grant_.gained.sent_at), grant_.gained.sent_at,
              grant_.gained.valid_until),
      valid_until_(keeper_.valid_until()) {}

hold::~hold() { assert((ended_ && room_ == nullptr) || engine_->in_child()); }

core::time_point hold::valid_until() const { return valid_until_.load(std::memory_order_acquire); }

bool hold::lost(core::time_point now) const {
    return gone_.load(std::memory_order_acquire) || now >= valid_until() || engine_->in_child();
}

std::stop_token hold::stop_token() {
    if (engine_->in_child()) {
        std::stop_source lost;
        lost.request_stop();
        return lost.get_token();
    }
    const auto lock = engine_->lock();
    if (!stop_) {
        stop_.emplace();
        if (announced()) stop_->request_stop();  // nobody can have registered a callback yet
    }
    return stop_->get_token();
}

void hold::start(core::time_point now) {
    engine_->enter(*this);
    room_->took(*this);
    carry_out(keeper_.due(now), now);
}

void hold::due(core::time_point now) { carry_out(keeper_.due(now), now); }

void hold::renewed(const core::renew& attempt, core::time_point now) {
    if (ended_) return;
    if (attempt.current() == core::renew::state::extended) ++engine_->counters().renewed;
    const auto next = keeper_.renewed(attempt, now);
    valid_until_.store(keeper_.valid_until(), std::memory_order_release);
    carry_out(next, now);
}

core::estate hold::estate(core::time_point now) const {
    auto left = grant_.gained;
    const bool sound = keeper_.current() == core::keeper::state::held && !lost(now);
    left.unchanged = left.unchanged && sound;
    return left;
}

void hold::carry_out(const core::keeper::decision& next, core::time_point now) {
    switch (next.what) {
        case core::keeper::action::none: break;
        case core::keeper::action::renew: renewal::start(shared_from_this(), next.ttl, now); break;
        case core::keeper::action::announce: announce(); break;
        case core::keeper::action::lose: return lose(now);
    }
    if (!ended_ && keeper_.current() != core::keeper::state::lost) {
        engine_->set(*this, next.wake_at);
    }
}

void hold::announce() {
    if (announced_.exchange(true, std::memory_order_acq_rel)) return;
    engine_->log(log_level::warning, "lease_ending",
                 "the lease will not be renewed; its deadline is near", grant_.what->keys.lock);
    if (!stop_) return;
    // Not under the lock: callbacks registered with the token may call back into the client.
    engine_->driving().call_back([stop = *stop_]() mutable { stop.request_stop(); });
}

void hold::lose(core::time_point now) {
    if (gone_.exchange(true, std::memory_order_acq_rel)) return;
    ++engine_->counters().lost;
    depart(now);
    engine_->log(log_level::error, "lease_lost", "the lease is lost", grant_.what->keys.lock);
    announce();
    engine_->cancel(*this);
    vacate(now);
}

bool hold::end(core::time_point now) {
    if (std::exchange(ended_, true)) return false;
    keeper_.close();
    engine_->cancel(*this);
    depart(now);
    return true;
}

void hold::depart(core::time_point now) {
    if (std::exchange(departed_, true)) return;
    engine_->counters().hold_time.add(now - acquired_at_);
    engine_->leave(*this);
}

bool hold::pass_on(const core::estate& left, core::time_point now) {
    if (room_ == nullptr || !room_->pass_on(*this, left, now)) return false;
    engine_->waiting().exit(*std::exchange(room_, nullptr));
    return true;
}

void hold::vacate(core::time_point now) {
    auto* const from = std::exchange(room_, nullptr);
    if (from == nullptr) return;
    from->freed(*this, now);
    engine_->waiting().exit(*from);
}

core::time_point hold::key_gone_at() const { return valid_until() + grant_.what->timing.guard(); }

}  // namespace holdfast::runtime
