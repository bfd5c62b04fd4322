#pragma once

#include <chrono>
#include <cstdint>

#include "holdfast/clock.hpp"

namespace holdfast::tool {

/// Decides when a command that runs under a lease is asked to end, and when it is ended.
///
///   running ---- notice before the deadline, or --at-most,
///      |         or a request ------------------------------> asked ---- grace over ----> killed
///      \-------- the lease is gone already ----------------------------------------------/
///
/// For a loss the grace ends `margin` before the deadline, so that the kill has happened when it
/// comes. A lease that is gone already gets no grace: somebody else may hold the lock now.
///
/// A plain value: time is an argument.
class stop_schedule {
  public:
    using time_point = clock::time_point;
    using duration = clock::duration;

    enum class state : std::uint8_t { running, asked, killed };
    enum class cause : std::uint8_t { none, at_most, request, loss };
    enum class action : std::uint8_t { none, terminate, kill };

    struct decision {
        action what = action::none;
        time_point wake_at = time_point::max();  // ask again then, or when something has happened
        friend bool operator==(const decision&, const decision&) = default;
    };

    /// How the lease stands.
    struct lease_view {
        time_point valid_until;
        bool announced = false;  // its stop_token has fired
        bool lost = false;
        friend bool operator==(const lease_view&, const lease_view&) = default;
    };

    /// A command that must have ended by itself at `at_most`.
    explicit stop_schedule(duration kill_after, time_point at_most = time_point::max());

    decision due(const lease_view& lease, time_point now);

    /// Somebody wants it to end: that is due at once.
    void request() { requested_ = true; }

    [[nodiscard]] state current() const { return state_; }
    [[nodiscard]] cause why() const { return cause_; }

    /// How long before the deadline the command is asked to end: loss_notice for the lease.
    static duration notice(duration kill_after);

    /// How long before the deadline it is killed: room for a busy machine to do it in.
    static duration margin(duration kill_after);

  private:
    void ask(cause why, time_point kill_at);
    [[nodiscard]] bool loss_is_near(const lease_view& lease, time_point now) const;
    [[nodiscard]] time_point last_moment(const lease_view& lease) const;

    duration kill_after_;
    time_point at_most_;
    bool requested_ = false;
    state state_ = state::running;
    cause cause_ = cause::none;
    time_point kill_at_ = time_point::max();
};

}  // namespace holdfast::tool
