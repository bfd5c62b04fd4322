#include "core/watchdog.hpp"

#include <algorithm>

namespace holdfast::core {

watchdog::watchdog(const config& settings, time_point sent_at, time_point valid_until)
    : config_(settings),
      valid_until_(std::min(valid_until, settings.hold_until)),
      next_renewal_(sent_at + settings.renew_every) {}

watchdog::decision watchdog::due(time_point now) {
    if (state_ == state::lost || state_ == state::closed) return {};
    if (now >= valid_until_) return lose();
    if (state_ == state::announced) return {.wake_at = valid_until_};
    if (now >= notice_at()) {
        state_ = state::announced;
        return {.what = action::announce, .wake_at = valid_until_};
    }
    if (!may_renew()) return {.wake_at = notice_at()};
    if (now < next_renewal_) return {.wake_at = std::min(renewal_at(), notice_at())};
    renewing_now_ = true;
    return {.what = action::renew, .ttl = ttl_within_hold(now), .wake_at = notice_at()};
}

watchdog::decision watchdog::not_renewed(time_point now) {
    renewing_now_ = false;
    next_renewal_ = now + config_.retry_every;
    return due(now);
}

watchdog::decision watchdog::renewed(const renew& attempt, time_point now) {
    renewing_now_ = false;
    if (state_ == state::lost || state_ == state::closed) return {};
    if (attempt.current() == renew::state::lost) return lose();
    if (state_ == state::held && attempt.current() == renew::state::extended) {
        // Another one may have reached further meanwhile: servers keep what is longer.
        valid_until_ = std::max(valid_until_, std::min(attempt.valid_until(), config_.hold_until));
        next_renewal_ = attempt.sent_at() + config_.renew_every;
    } else {
        next_renewal_ = now + config_.retry_every;
    }
    return due(now);
}

watchdog::decision watchdog::found_gone() {
    return state_ == state::lost || state_ == state::closed ? decision{} : lose();
}

watchdog::decision watchdog::lose() {
    state_ = state::lost;
    return {.what = action::lose};
}

time_point watchdog::renewal_at() const {
    const auto step = config_.timing.ttl / 3000;
    const auto past = next_renewal_.time_since_epoch() % step;
    return past == duration{0} ? next_renewal_ : next_renewal_ + (step - past);
}

bool watchdog::may_renew() const {
    return config_.renewing && !renewing_now_ && valid_until_ < config_.hold_until;
}

// Asking for less near the end lets the key die soon after the holder stopped believing in it.
duration watchdog::ttl_within_hold(time_point now) const {
    if (config_.hold_until == never) return config_.timing.ttl;
    return std::min(config_.timing.ttl, config_.hold_until - now + config_.timing.guard());
}

}  // namespace holdfast::core
