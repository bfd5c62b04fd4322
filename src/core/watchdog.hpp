#pragma once

#include <cstdint>
#include <optional>

#include "core/renew.hpp"
#include "core/timing.hpp"

/// Decides for one lease when to renew it, when to announce that it will be lost, and when it is.
///
///   held ------ notice before the deadline, unrenewed ------> announced ------ deadline ---> lost
///     \-------- a renewal, or who asked, finds it gone --------------------------------------/
///     \-------- close() ---> closed                (announced, lost: close() ---> closed too)
///
///   event                 held                      announced           lost, closed
///   due: renewal time     renew                     nothing: final      nothing
///   due: notice time      announce                  nothing: done       nothing
///   due: deadline         announce and lose         lose                nothing
///   renewed: extended     new deadline              ignored: final      ignored
///   renewed: unconfirmed  retry soon                ignored             ignored
///   renewed: lost         announce and lose         lose                ignored
///   found gone            announce and lose         lose                ignored
///
/// Renewals begin with a step of the clock, a 3000th of the ttl: those of many leases then leave in
/// one write, where a write and a read for each would cost ten times as much as the renewal itself.
///
/// An announcement is final, because a std::stop_token cannot be taken back.
namespace holdfast::core {

class watchdog {
  public:
    enum class state : std::uint8_t { held, announced, lost, closed };

    struct config {
        core::timing timing{};
        bool renewing = true;
        duration renew_every{};         // after the last confirmed renewal was sent
        duration retry_every{};         // after one that was not confirmed
        duration notice{};              // how long before the deadline the loss is announced
        time_point hold_until = never;  // max_hold: no renewal reaches beyond this
    };

    enum class action : std::uint8_t { none, renew, announce, lose };

    struct decision {
        action what = action::none;
        duration ttl{};              // with renew: what to ask for
        time_point wake_at = never;  // call due() again at this time, or after renewed()
        friend bool operator==(const decision&, const decision&) = default;
    };

    /// A lease whose request left at `sent_at`, and which is believed until `valid_until`.
    watchdog(const config& settings, time_point sent_at, time_point valid_until);

    /// What is to be done now. `lose` means: announce too, unless that has happened.
    decision due(time_point now);

    /// A renewal that `due` asked for has been decided.
    decision renewed(const renew& attempt, time_point now);

    /// A renewal that `due` asked for could not even be begun.
    decision not_renewed(time_point now);

    /// A majority says that the key is another's, or nobody's.
    decision found_gone();

    /// The lease was released: nothing more will be due.
    void close() { state_ = state::closed; }

    [[nodiscard]] state current() const { return state_; }
    [[nodiscard]] time_point valid_until() const { return valid_until_; }

  private:
    decision lose();
    [[nodiscard]] bool may_renew() const;
    [[nodiscard]] duration ttl_within_hold(time_point now) const;
    [[nodiscard]] time_point renewal_at() const;
    [[nodiscard]] time_point notice_at() const { return valid_until_ - config_.notice; }

    config config_;
    state state_ = state::held;
    bool renewing_now_ = false;
    time_point valid_until_;
    time_point next_renewal_;
};

}  // namespace holdfast::core
