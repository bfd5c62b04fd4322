#pragma once

#include <cstdint>
#include <span>

#include "runtime/driving/driver.hpp"
#include "sim/world/network.hpp"

namespace holdfast::sim {

/// Drives one client as the shipped background thread does (src/platform/threaded_driver.cpp), in
/// the world's time and without a thread.
///
///   polls    while something is unattended: what arrives is taken in at once
///   rests    otherwise: it looks again when the first timer was due as of its last look, or when
///            it was asked to. Bytes that arrive meanwhile lie unread.
///
/// Nobody waits in it: callers are told by callbacks. The last one is the client that is closed
/// when the world has ended, and for that one no more time passes than its timers ask for.
class simulated_driver final : public runtime::driver {
  public:
    simulated_driver(process& of, base::client_mutex& guard, machinery& driven)
        : process_(of), guard_(guard), driven_(driven) {}

    // The world's. Without the lock.
    /// One look around: writes what is unwritten, takes in what has arrived, fires what is due.
    void turn(std::span<stream* const> open);
    /// The same, for what only the environment can tell.
    template <typename Event>
    void turn_with(std::span<stream* const> open, Event&& happened) {
        const base::client_lock lock(guard_);
        happened();
        look(open);
    }
    /// Whether an event that was planned for a look still stands for one.
    [[nodiscard]] bool expects(std::uint32_t generation) const { return generation == generation_; }
    [[nodiscard]] bool polls() const { return polls_; }
    void run_callbacks();
    /// Plans what has become due since the last time.
    void settle();

    [[nodiscard]] std::shared_ptr<runtime::parker> parker_of_this_thread() override {
        return nullptr;
    }
    void wait(base::client_lock& lock, runtime::waiter& who) noexcept override;
    void finished(runtime::waiter& who) noexcept override { who.done = true; }
    void look_again() noexcept override {
        if (polls_) attend_by(process_.local());
    }
    [[nodiscard]] bool driving() const noexcept override { return polls_ || in_turn_; }
    [[nodiscard]] bool about_to_drive() const noexcept override { return false; }
    void will_wait() noexcept override {}
    void require_background() override {}
    void attend_by(core::time_point when) noexcept override {
        looks_at_ = std::min(looks_at_, when);
    }
    void call_back(runtime::callback& what) noexcept override { callbacks_.push_back(what); }
    void stop() override { run_callbacks(); }
    void abandon() noexcept override {}

  private:
    void look(std::span<stream* const> open);

    process& process_;
    base::client_mutex& guard_;
    machinery& driven_;
    core::time_point looks_at_ = core::never;
    core::time_point planned_at_ = core::never;
    std::uint32_t generation_ = 0;  // of the event that stands for the next look
    bool polls_ = false;
    bool in_turn_ = false;
    bool callbacks_planned_ = false;
    boost::intrusive::slist<runtime::callback, boost::intrusive::cache_last<true>> callbacks_;
};

}  // namespace holdfast::sim
