#pragma once

#include <poll.h>

#include <boost/intrusive/list.hpp>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/time.hpp"
#include "runtime/alarm.hpp"
#include "runtime/bell.hpp"
#include "runtime/crowd.hpp"

namespace boost::asio {
class io_context;
}

namespace holdfast::runtime {

/// A blocked caller, and whether what it waits for is done.
struct waiter : boost::intrusive::list_base_hook<> {
    bool done = false;
    bool in_line = false;  // when it began to wait: no answer was on its way
    std::shared_ptr<bell> wake = bell::of_this_thread();
};

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
/// otherwise sleeps until the next timer. Callbacks into users' code run there, unlocked.
///
/// Time: the background thread wakes for the earliest timer, but for what is due within
/// milliseconds, which the caller that polls keeps itself, and leaves behind when it goes. Without
/// a background thread every sleeper wakes. Whoever is awake fires what is due.
class driver {
  public:
    /// Something to read from, and whose it is.
    struct source {
        int descriptor;
        std::size_t whose;
    };

    /// What is driven. All called with the lock held.
    class machinery {
      public:
        virtual void flush() = 0;

        /// Lists all that can bring something. False: only the io_context sees all of it.
        [[nodiscard]] virtual bool list_sources(std::vector<source>& all) = 0;
        virtual void take_in(const source& from) = 0;
        /// Lets the io_context tell when a source brings something.
        virtual void watch_sources() = 0;

        virtual void fire(core::time_point now) = 0;
        [[nodiscard]] virtual core::time_point wake_at() const = 0;
        [[nodiscard]] virtual bool unattended() const = 0;

        /// What must outlive the background thread, should that outlive its last user.
        [[nodiscard]] virtual std::shared_ptr<void> keep_alive() = 0;

      protected:
        ~machinery() = default;
    };

    driver(std::mutex& guard, machinery& driven);
    ~driver();  // REQUIRES: stopped

    boost::asio::io_context& io() { return *io_; }

    /// Returns when `who.done`. `lock` is held before and after.
    void wait(std::unique_lock<std::mutex>& lock, waiter& who);

    /// With the lock held, from any thread.
    void finished(waiter& who);

    /// With the lock held: the sources have changed.
    void look_again();

    /// True while a thread drives: what is appended now rides in its next write.
    [[nodiscard]] bool driving() const { return driving_; }

    /// True while a thread is about to drive: it begins by writing what is appended until then.
    [[nodiscard]] bool about_to_drive() const { return successor_ != nullptr || ringing_; }

    /// With the lock held: this thread is about to call wait(), and looks at the timers there.
    void will_wait() { expected_ = std::this_thread::get_id(); }

    /// Makes sure that somebody will look by `when`, even if nobody waits.
    void attend_by(core::time_point when);

    /// Runs in the background thread, without the lock, as soon as it can.
    void call_back(std::function<void()> callback);

    /// Ends the background thread, after it has run all callbacks. REQUIRES: the lock not held,
    /// and nobody left who waits. Calling it twice is once. From a callback: the thread is left
    /// to end by itself.
    void stop();

    /// In a forked child there is no thread to join.
    void abandon() noexcept;

  private:
    void start_background();
    void run_background();
    void run_callbacks(std::unique_lock<std::mutex>& lock);
    void drive(std::unique_lock<std::mutex>& lock, waiter* who);
    void ring(std::unique_lock<std::mutex>& lock);
    void turn(std::unique_lock<std::mutex>& lock);
    void poll_sources(std::unique_lock<std::mutex>& lock, core::time_point until);
    bool left_to_background(core::time_point until);
    void leave_to_background(core::time_point when);
    [[nodiscard]] bool looks_itself() const;
    void run_context(std::unique_lock<std::mutex>& lock, core::time_point until);
    void sleep(std::unique_lock<std::mutex>& lock, waiter& who);
    bool let_others_run(std::unique_lock<std::mutex>& lock, waiter& who);
    void pass_on();
    void wake_background();
    void interrupt();

    std::mutex& guard_;
    machinery& driven_;
    std::unique_ptr<boost::asio::io_context> io_;  // has work until it is destroyed

    alarm alarm_;
    std::vector<source> sources_;
    std::vector<pollfd> polled_;  // the alarm, then the sources
    bool polling_ = false;

    bool driving_ = false;
    waiter* driver_ = nullptr;  // null while the background thread drives
    std::thread::id driver_thread_{};
    std::thread::id expected_{};   // has promised to wait
    bool left_to_caller_ = false;  // some timer, since the last caller left
    boost::intrusive::list<waiter> sleepers_;
    crowd crowd_;
    std::vector<std::shared_ptr<bell>> to_ring_;  // of callers whose operations are finished
    bool ringing_ = false;
    bool interrupted_ = false;     // while it rang
    waiter* successor_ = nullptr;  // a sleeper that was woken to drive, and has not begun yet

    std::thread background_;
    std::condition_variable background_wake_;
    core::time_point background_until_ = core::never;  // when it looks again by itself
    std::vector<std::function<void()>> callbacks_;
    bool calling_back_ = false;  // users' code decides for how long: it keeps no time meanwhile
    bool stopping_ = false;
};

}  // namespace holdfast::runtime
