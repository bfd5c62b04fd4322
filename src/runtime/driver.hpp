#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/time.hpp"

namespace boost::asio {
class io_context;
}

namespace holdfast::runtime {

/// A blocked caller, and whether what it waits for is done.
struct waiter {
    bool done = false;
    std::condition_variable wake;
};

/// Whoever waits, drives.
///
/// The first caller that waits becomes the driver: it runs the io_context, and with it completes
/// whatever arrives, its own operation and those of others, until its own is done. Then it hands
/// the role to another caller that still waits. So a lone caller's answer reaches it without any
/// other thread, and with many callers one write carries many requests.
///
/// A background thread, started when first needed, drives for work that nobody waits for, and
/// otherwise sleeps until the next timer. Callbacks into users' code run there, unlocked.
///
/// Time: every sleeper wakes for the earliest timer that it knew of; whoever is awake fires what
/// is due. So no timer depends on one particular thread.
class driver {
  public:
    /// What is driven. All called with the lock held.
    class machinery {
      public:
        virtual void flush() = 0;
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

    /// Takes in what has arrived while nobody looked, without waiting: a connection that the server
    /// closed meanwhile should be found closed before something is sent on it.
    void catch_up(std::unique_lock<std::mutex>& lock);

    /// With the lock held, from any thread.
    void finished(waiter& who);

    /// True while a thread runs the io_context: what is appended now rides in its next write.
    [[nodiscard]] bool driving() const { return driving_; }

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
    void turn(std::unique_lock<std::mutex>& lock);
    void poll(std::unique_lock<std::mutex>& lock);
    void sleep(std::unique_lock<std::mutex>& lock, waiter& who);
    void pass_on();
    void wake_background();
    void interrupt();

    std::mutex& guard_;
    machinery& driven_;
    std::unique_ptr<boost::asio::io_context> io_;  // has work until it is destroyed

    bool driving_ = false;
    waiter* driver_ = nullptr;  // null while the background thread drives
    std::thread::id driver_thread_{};
    core::time_point looked_at_{};  // when somebody last drove
    std::list<waiter*> sleepers_;

    std::thread background_;
    std::condition_variable background_wake_;
    core::time_point background_until_ = core::never;  // when it looks again by itself
    std::vector<std::function<void()>> callbacks_;
    bool stopping_ = false;
};

}  // namespace holdfast::runtime
