#include "stop_schedule.hpp"

#include <algorithm>

namespace holdfast::tool {

using namespace std::chrono_literals;

stop_schedule::stop_schedule(duration kill_after, time_point at_most)
    : kill_after_(kill_after), at_most_(at_most) {}

stop_schedule::duration stop_schedule::margin(duration kill_after) {
    return std::max<duration>(kill_after / 10, 50ms);
}

stop_schedule::duration stop_schedule::notice(duration kill_after) {
    return std::max(kill_after, margin(kill_after));
}

stop_schedule::decision stop_schedule::due(const lease_view& lease, time_point now) {
    if (state_ == state::killed) return {};
    bool news = false;
    if (state_ == state::running && (requested_ || now >= at_most_)) {
        ask(requested_ ? cause::request : cause::at_most, now + kill_after_);
        news = true;
    }
    if (cause_ != cause::loss && loss_is_near(lease, now)) {
        news = news || state_ == state::running;
        ask(cause::loss, std::min({kill_at_, now + kill_after_, last_moment(lease)}));
    }
    if (state_ == state::asked && (lease.lost || now >= kill_at_)) {
        state_ = state::killed;
        return {.what = action::kill};
    }
    const auto loss_near_at = lease.valid_until - notice(kill_after_);
    if (state_ == state::running) return {.wake_at = std::min(at_most_, loss_near_at)};
    return {.what = news ? action::terminate : action::none,
            .wake_at = cause_ == cause::loss ? kill_at_ : std::min(kill_at_, loss_near_at)};
}

void stop_schedule::ask(cause why, time_point kill_at) {
    state_ = state::asked;
    cause_ = why;
    kill_at_ = kill_at;
}

bool stop_schedule::loss_is_near(const lease_view& lease, time_point now) const {
    return lease.announced || lease.lost || now >= lease.valid_until - notice(kill_after_);
}

stop_schedule::time_point stop_schedule::last_moment(const lease_view& lease) const {
    return lease.valid_until - margin(kill_after_);
}

}  // namespace holdfast::tool
