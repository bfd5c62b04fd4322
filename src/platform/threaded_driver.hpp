#pragma once

#include <poll.h>

#include <boost/intrusive/list.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "base/locks.hpp"
#include "core/time.hpp"
#include "platform/futex_parker.hpp"
#include "platform/spin_policy.hpp"
#include "platform/wake_event.hpp"
#include "platform/wake_timer.hpp"
#include "runtime/driving/driver.hpp"

namespace boost::asio {
class io_context;
}

namespace holdfast::platform {

using runtime::callback;
using runtime::waiter;

/// Whoever waits, drives.
///
/// The first caller that waits becomes the driver: it completes whatever arrives, its own operation
/// and those of others, until its own is done. Then it hands the role to another caller that still
/// waits. So a lone caller's answer reaches it without any other thread, and with many callers one
/// write carries many requests.
///
/// To drive is to poll the sockets and read from them. Only while there is more to do than that
/// (connecting, TLS, a write that the kernel did not take) the io_context is run instead.
///
/// A background thread, started when first needed, drives for work that nobody waits for, and
/// otherwise sleeps until the next timer. Callbacks into users' code run there, unlocked. Where it
/// cannot be started, callers who wait keep the time.
///
/// No exception leaves it: a round that fails, for want of memory, is taken again a little later,
/// and whoever drove drives on. What that delays beyond its deadline fails by it.
///
/// Time: the background thread wakes for the earliest timer, but for what is due within
/// milliseconds, which the caller that polls keeps itself, and leaves behind when it goes. Without
/// a background thread every sleeper wakes. Whoever is awake fires what is due. The background
/// thread's wait ends when the machine wakes from a suspend in which a timer became due.
class threaded_driver final : public runtime::driver {
  public:
    threaded_driver(boost::asio::io_context& io, base::client_mutex& guard, machinery& driven);
    ~threaded_driver() override;

    [[nodiscard]] std::shared_ptr<runtime::parker> parker_of_this_thread() override {
        return futex_parker::of_this_thread();
    }

    void wait(base::client_lock& lock, waiter& who) noexcept override HOLDFAST_LOCKED;
    void finished(waiter& who) noexcept override HOLDFAST_LOCKED;
    void look_again() noexcept override HOLDFAST_LOCKED;
    [[nodiscard]] bool driving() const noexcept override HOLDFAST_LOCKED { return driving_; }
    [[nodiscard]] bool about_to_drive() const noexcept override HOLDFAST_LOCKED {
        return successor_ != nullptr || unparking_;
    }
    void will_wait() noexcept override HOLDFAST_LOCKED { expected_ = std::this_thread::get_id(); }

    /// There is a background thread from now on.
    void require_background() override HOLDFAST_LOCKED;

    /// Without a background thread, who waits does.
    void attend_by(core::time_point when) noexcept override HOLDFAST_LOCKED;

    /// In the background thread.
    void call_back(callback& what) noexcept override HOLDFAST_LOCKED;

    /// From a callback: the thread is left to end by itself.
    void stop() override HOLDFAST_UNLOCKED;
    void abandon() noexcept override HOLDFAST_UNCHECKED;  // the child has one thread, and no lock

  private:
    class timer_watch;
    class role;

    void try_background() noexcept HOLDFAST_LOCKED;
    void run_background() noexcept HOLDFAST_UNLOCKED;
    void run_callbacks(base::client_lock& lock) HOLDFAST_LOCKED;
    void drive(base::client_lock& lock, waiter* who) noexcept HOLDFAST_LOCKED;
    void unpark_finished(base::client_lock& lock) noexcept HOLDFAST_LOCKED;
    void run_once(base::client_lock& lock) noexcept HOLDFAST_LOCKED;
    void look_around(base::client_lock& lock, core::time_point until) HOLDFAST_LOCKED;
    void poll_sources(base::client_lock& lock, core::time_point until) HOLDFAST_LOCKED;
    bool left_to_background(core::time_point until) noexcept HOLDFAST_LOCKED;
    void leave_to_background(core::time_point when) noexcept HOLDFAST_LOCKED;
    [[nodiscard]] bool looks_itself() const HOLDFAST_LOCKED;
    void run_context(base::client_lock& lock, core::time_point until) HOLDFAST_LOCKED;
    [[nodiscard]] bool background_drives() const HOLDFAST_LOCKED {
        return driving_ && driver_ == nullptr;
    }
    bool left_to_timer(core::time_point until) noexcept HOLDFAST_LOCKED;
    void rest(base::client_lock& lock) noexcept HOLDFAST_LOCKED;
    void sleep(base::client_lock& lock, waiter& who) noexcept HOLDFAST_LOCKED;
    bool spin(base::client_lock& lock, waiter& who) noexcept HOLDFAST_LOCKED;
    void pass_role() noexcept HOLDFAST_LOCKED;
    void wake_background() noexcept HOLDFAST_LOCKED;
    void interrupt() noexcept HOLDFAST_LOCKED;

    base::client_mutex& guard_;
    machinery& driven_;
    boost::asio::io_context& io_;  // never runs out of work

    wake_event interrupt_;
    std::vector<source> sources_;  // these two belong to whoever drives, locked or not
    std::vector<pollfd> polled_;   // the event, the sources, and perhaps the timer
    bool polling_ HOLDFAST_GUARDED = false;

    bool driving_ HOLDFAST_GUARDED = false;
    waiter* driver_ HOLDFAST_GUARDED = nullptr;  // null while the background thread drives
    std::thread::id driver_thread_ HOLDFAST_GUARDED{};
    std::thread::id expected_ HOLDFAST_GUARDED{};   // has promised to wait
    bool left_to_caller_ HOLDFAST_GUARDED = false;  // some timer, since the last caller left
    boost::intrusive::list<waiter> sleepers_ HOLDFAST_GUARDED;
    spin_policy spinning_ HOLDFAST_GUARDED;
    std::vector<std::shared_ptr<futex_parker>> to_unpark_
        HOLDFAST_GUARDED;  // of callers whose operations are finished
    bool unparking_ HOLDFAST_GUARDED = false;
    bool interrupted_ HOLDFAST_GUARDED = false;  // while it unparked
    waiter* successor_ HOLDFAST_GUARDED =
        nullptr;  // a sleeper that was woken to drive, and has not begun yet

    std::thread background_ HOLDFAST_GUARDED;
    wake_event call_;   // of the background thread, while it rests
    wake_timer timer_;  // of the background thread, whatever it waits for
    std::unique_ptr<timer_watch> timer_watch_;
    bool resting_ HOLDFAST_GUARDED = false;
    core::time_point background_until_ HOLDFAST_GUARDED =
        core::never;  // when it looks again by itself
    boost::intrusive::slist<callback, boost::intrusive::cache_last<true>> callbacks_
        HOLDFAST_GUARDED;
    bool calling_back_ HOLDFAST_GUARDED =
        false;  // users' code decides for how long: it keeps no time meanwhile
    bool stopping_ HOLDFAST_GUARDED = false;
};

}  // namespace holdfast::platform
