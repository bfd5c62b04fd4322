#pragma once

#include <boost/intrusive/list_hook.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/locks.hpp"
#include "core/time.hpp"
#include "runtime/driving/callback.hpp"

namespace holdfast::runtime {

struct waiter;

/// What a blocked caller sleeps on: only the driver that made it looks inside.
class parker {
  public:
    virtual ~parker() = default;
};

/// Carries a client on: calls it when a time has come or something has arrived, lets callers wait,
/// and runs users' callbacks. Who does all that, and when, is the environment's business.
///
/// Members are called from any thread.
class driver {
  public:
    /// Something to read from, and whose it is.
    struct source {
        int descriptor;
        std::size_t whose;
    };

    /// What is driven.
    class machinery {
      public:
        virtual void flush() noexcept HOLDFAST_LOCKED = 0;

        /// Lists all that can bring something. False: some of it has no descriptor.
        [[nodiscard]] virtual bool list_sources(std::vector<source>& all) HOLDFAST_LOCKED = 0;
        virtual void take_in(const source& from) noexcept HOLDFAST_LOCKED = 0;
        /// Lets the environment tell when a source brings something, as of net::transport.
        virtual void watch_sources() HOLDFAST_LOCKED = 0;

        virtual void fire(core::time_point now) noexcept HOLDFAST_LOCKED = 0;
        [[nodiscard]] virtual core::time_point wake_at() const HOLDFAST_LOCKED = 0;
        [[nodiscard]] virtual bool unattended() const HOLDFAST_LOCKED = 0;

        /// Whether callers may spin before they sleep.
        [[nodiscard]] virtual bool may_spin() const = 0;

        /// What must outlive whoever drives, should that outlive its last user.
        [[nodiscard]] virtual std::shared_ptr<void> keep_alive() = 0;

      protected:
        ~machinery() = default;
    };

    driver(const driver&) = delete;
    driver& operator=(const driver&) = delete;
    virtual ~driver() = default;  // REQUIRES: stopped

    /// With the lock or without. Throws std::bad_alloc, where this thread has never waited before.
    [[nodiscard]] virtual std::shared_ptr<parker> parker_of_this_thread() = 0;

    /// Returns when `who.done`. `lock` is held before and after.
    virtual void wait(base::client_lock& lock, waiter& who) noexcept HOLDFAST_LOCKED = 0;

    virtual void finished(waiter& who) noexcept HOLDFAST_LOCKED = 0;

    /// The sources have changed.
    virtual void look_again() noexcept HOLDFAST_LOCKED = 0;

    /// True while somebody drives: what is appended now rides in its next write.
    [[nodiscard]] virtual bool driving() const noexcept HOLDFAST_LOCKED = 0;

    /// True while somebody is about to drive, and begins by writing what is appended until then.
    [[nodiscard]] virtual bool about_to_drive() const noexcept HOLDFAST_LOCKED = 0;

    /// This thread is about to call wait(), and looks at the timers there.
    virtual void will_wait() noexcept HOLDFAST_LOCKED = 0;

    /// Somebody drives from now on also for what nobody waits for. Whoever wants something that
    /// nobody may be waiting for in the end, as a lease is, asks for it first. Throws
    /// std::system_error or std::bad_alloc where that cannot be.
    virtual void require_background() HOLDFAST_LOCKED = 0;

    /// Makes sure that somebody will look by `when`, even if nobody waits, as far as that can be.
    virtual void attend_by(core::time_point when) noexcept HOLDFAST_LOCKED = 0;

    /// Runs it without the lock, as soon as that can be. REQUIRES: require_background().
    virtual void call_back(callback& what) noexcept HOLDFAST_LOCKED = 0;

    /// Ends it, after all callbacks have run. REQUIRES: nobody left who waits. Calling it twice is
    /// once.
    virtual void stop() HOLDFAST_UNLOCKED = 0;

    /// In a forked child: there is no thread to join.
    virtual void abandon() noexcept = 0;

  protected:
    driver() = default;
};

/// A blocked caller, and whether what it waits for is done.
struct waiter : boost::intrusive::list_base_hook<> {
    /// Throws std::bad_alloc, where this thread has never waited before.
    explicit waiter(driver& with) : sleeps_on(with.parker_of_this_thread()) {}

    bool done HOLDFAST_GUARDED = false;
    bool in_line HOLDFAST_GUARDED = false;  // when it began to wait: no answer was on its way
    std::shared_ptr<parker> sleeps_on;
};

}  // namespace holdfast::runtime
