#pragma once

#include <poll.h>

#include <boost/intrusive/list.hpp>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

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
    threaded_driver(boost::asio::io_context& io, std::mutex& guard, machinery& driven);
    ~threaded_driver() override;

    [[nodiscard]] std::shared_ptr<runtime::parker> parker_of_this_thread() override {
        return futex_parker::of_this_thread();
    }

    void wait(std::unique_lock<std::mutex>& lock, waiter& who) noexcept override;
    void finished(waiter& who) noexcept override;
    void look_again() noexcept override;
    [[nodiscard]] bool driving() const noexcept override { return driving_; }
    [[nodiscard]] bool about_to_drive() const noexcept override {
        return successor_ != nullptr || unparking_;
    }
    void will_wait() noexcept override { expected_ = std::this_thread::get_id(); }

    /// There is a background thread from now on.
    void require_background() override;

    /// Without a background thread, who waits does.
    void attend_by(core::time_point when) noexcept override;

    /// In the background thread.
    void call_back(callback& what) noexcept override;

    /// From a callback: the thread is left to end by itself.
    void stop() override;
    void abandon() noexcept override;

  private:
    class timer_watch;
    class role;

    void try_background() noexcept;
    void run_background() noexcept;
    void run_callbacks(std::unique_lock<std::mutex>& lock);
    void drive(std::unique_lock<std::mutex>& lock, waiter* who) noexcept;
    void unpark_finished(std::unique_lock<std::mutex>& lock) noexcept;
    void run_once(std::unique_lock<std::mutex>& lock) noexcept;
    void look_around(std::unique_lock<std::mutex>& lock, core::time_point until);
    void poll_sources(std::unique_lock<std::mutex>& lock, core::time_point until);
    bool left_to_background(core::time_point until) noexcept;
    void leave_to_background(core::time_point when) noexcept;
    [[nodiscard]] bool looks_itself() const;
    void run_context(std::unique_lock<std::mutex>& lock, core::time_point until);
    [[nodiscard]] bool background_drives() const { return driving_ && driver_ == nullptr; }
    bool left_to_timer(core::time_point until) noexcept;
    void rest(std::unique_lock<std::mutex>& lock) noexcept;
    void sleep(std::unique_lock<std::mutex>& lock, waiter& who) noexcept;
    bool spin(std::unique_lock<std::mutex>& lock, waiter& who) noexcept;
    void pass_role() noexcept;
    void wake_background() noexcept;
    void interrupt() noexcept;

    std::mutex& guard_;
    machinery& driven_;
    boost::asio::io_context& io_;  // never runs out of work

    wake_event interrupt_;
    std::vector<source> sources_;
    std::vector<pollfd> polled_;  // the event, the sources, and perhaps the timer
    bool polling_ = false;

    bool driving_ = false;
    waiter* driver_ = nullptr;  // null while the background thread drives
    std::thread::id driver_thread_{};
    std::thread::id expected_{};   // has promised to wait
    bool left_to_caller_ = false;  // some timer, since the last caller left
    boost::intrusive::list<waiter> sleepers_;
    spin_policy spinning_;
    std::vector<std::shared_ptr<futex_parker>>
        to_unpark_;  // of callers whose operations are finished
    bool unparking_ = false;
    bool interrupted_ = false;     // while it unparked
    waiter* successor_ = nullptr;  // a sleeper that was woken to drive, and has not begun yet

    std::thread background_;
    wake_event call_;   // of the background thread, while it rests
    wake_timer timer_;  // of the background thread, whatever it waits for
    std::unique_ptr<timer_watch> timer_watch_;
    bool resting_ = false;
    core::time_point background_until_ = core::never;  // when it looks again by itself
    boost::intrusive::slist<callback, boost::intrusive::cache_last<true>> callbacks_;
    bool calling_back_ = false;  // users' code decides for how long: it keeps no time meanwhile
    bool stopping_ = false;
};

}  // namespace holdfast::platform
