#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include "holdfast/client.hpp"
#include "holdfast/detail/deadline.hpp"
#include "holdfast/lease.hpp"

namespace holdfast {

namespace detail {
class held_leases;
}  // namespace detail

/// The name of a lock, and how it is taken: Lockable and TimedLockable, for std::scoped_lock,
/// std::unique_lock and std::lock; or the maker of leases, for those who want the fencing token
/// and the warning before a loss.
///
///   lock(), try_lock...   the mutex keeps the lease; unlock() by the same thread releases it
///   acquire, try_acquire  the caller keeps the lease
///
/// Behind the time to wait, where there is one, acquire and the like take options, a stop_token and
/// an error_code, in this order; each may be left out. try_acquire, which does not wait, takes no
/// stop_token. Options replace the mutex's, all of them; `{}` are the defaults of acquire_options,
/// and never a stop_token.
///
/// One object may be shared by threads: at most one of them holds it. Two objects of one key
/// exclude each other as two processes would. Not re-entrant: locking it again in the same thread
/// waits for ever, as with std::mutex; see recursive_mutex.
///
/// Waiting: callers of one process stand in line, first come, first served, and only the first
/// contends at the server, which tells it when the key goes away.
///
/// Blocking: an attempt takes a round trip, and options::node_timeout at most, with a connection to
/// be made first options::connect_timeout more; try_lock() and try_acquire() are one attempt. While
/// no server can be reached, those who wait go on for options::patience, and then fail with
/// errc::unreachable. unlock() waits for the answer to the release, for node_timeout at most,
/// unless acquire_options::await_release is false. Thread safety: all members may be called from
/// any thread. Cancellation: a std::stop_token, where one is taken, ends the wait with
/// errc::cancelled. Errors: that somebody else holds the lock is a value. Failures throw
/// std::system_error with a holdfast::errc, or EAGAIN for want of a thread, or std::bad_alloc; or
/// are stored in the std::error_code& of the overload. unlock() never throws; unlocking what this
/// thread does not hold goes to the log, or is errc::not_held; in a forked child it does nothing:
/// errc::forked. Neither tells of a lease that was lost meanwhile: current()->lost() before it
/// does, and lease::release().
class mutex {
  public:
    /// Checks key and options. Where the ttl is the default one and the client's max_ttl is
    /// shorter, only key and label: whatever takes no options of its own then fails, and the others
    /// work.
    mutex(client& through, std::string key, acquire_options how = {});
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;
    ~mutex();  // releases what is still held

    void lock();
    void lock(std::error_code& error);
    bool try_lock();
    bool try_lock(std::error_code& error);

    template <typename Rep, typename Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return lock_until(detail::from_now(wait));
    }
    template <typename Rep, typename Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& wait, std::error_code& error) {
        return lock_until(detail::from_now(wait), error);
    }
    template <typename Clock, typename Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) {
        return lock_until(detail::on_our_clock(when));
    }
    template <typename Clock, typename Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when,
                        std::error_code& error) {
        return lock_until(detail::on_our_clock(when), error);
    }

    void unlock() noexcept;
    void unlock(std::error_code& error) noexcept;

    /// The lease behind lock(), if the calling thread holds it: for its token, its stop_token and
    /// its deadline. Valid until that thread unlocks.
    [[nodiscard]] const lease* current() const noexcept;

    /// Waits as long as it takes, or until `stop` fires.
    [[nodiscard]] lease acquire();
    [[nodiscard]] lease acquire(std::same_as<std::stop_token> auto stop) {
        return acquire(how(), std::move(stop));
    }
    [[nodiscard]] acquisition acquire(std::error_code& error) { return acquire(how(), {}, error); }
    [[nodiscard]] acquisition acquire(std::same_as<std::stop_token> auto stop,
                                      std::error_code& error) {
        return acquire(how(), std::move(stop), error);
    }
    [[nodiscard]] lease acquire(const acquire_options& how, std::stop_token stop = {});
    [[nodiscard]] acquisition acquire(const acquire_options& how, std::error_code& error) {
        return acquire(how, {}, error);
    }
    [[nodiscard]] acquisition acquire(const acquire_options& how, std::stop_token stop,
                                      std::error_code& error);

    /// One attempt, no waiting.
    [[nodiscard]] acquisition try_acquire();
    [[nodiscard]] acquisition try_acquire(std::error_code& error) {
        return try_acquire(how(), error);
    }
    [[nodiscard]] acquisition try_acquire(const acquire_options& how);
    [[nodiscard]] acquisition try_acquire(const acquire_options& how, std::error_code& error);

    /// Waits for so long at most, or until `stop` fires; without time to wait, one attempt.
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait) {
        return acquire_until(detail::from_now(wait), how(), {});
    }
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                              std::error_code& error) {
        return acquire_until(detail::from_now(wait), how(), {}, error);
    }
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                              std::same_as<std::stop_token> auto stop) {
        return acquire_until(detail::from_now(wait), how(), stop);
    }
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                              std::same_as<std::stop_token> auto stop,
                                              std::error_code& error) {
        return acquire_until(detail::from_now(wait), how(), stop, error);
    }
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                              const acquire_options& how,
                                              std::stop_token stop = {}) {
        return acquire_until(detail::from_now(wait), how, stop);
    }
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                              const acquire_options& how, std::error_code& error) {
        return acquire_until(detail::from_now(wait), how, {}, error);
    }
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                              const acquire_options& how, std::stop_token stop,
                                              std::error_code& error) {
        return acquire_until(detail::from_now(wait), how, stop, error);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when) {
        return acquire_until(detail::on_our_clock(when), how(), {});
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when, std::error_code& error) {
        return acquire_until(detail::on_our_clock(when), how(), {}, error);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when,
        std::same_as<std::stop_token> auto stop) {
        return acquire_until(detail::on_our_clock(when), how(), stop);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when,
        std::same_as<std::stop_token> auto stop, std::error_code& error) {
        return acquire_until(detail::on_our_clock(when), how(), stop, error);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when, const acquire_options& how,
        std::stop_token stop = {}) {
        return acquire_until(detail::on_our_clock(when), how, stop);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when, const acquire_options& how,
        std::error_code& error) {
        return acquire_until(detail::on_our_clock(when), how, {}, error);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when, const acquire_options& how,
        std::stop_token stop, std::error_code& error) {
        return acquire_until(detail::on_our_clock(when), how, stop, error);
    }

    /// Waits without blocking, as an Asio asynchronous operation: see holdfast/asio.hpp.
    template <typename CompletionToken>
    auto async_acquire(CompletionToken&& token);
    template <typename CompletionToken>
    auto async_acquire(const acquire_options& how, CompletionToken&& token);
    template <typename Rep, typename Period, typename CompletionToken>
    auto async_try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                               CompletionToken&& token);
    template <typename Rep, typename Period, typename CompletionToken>
    auto async_try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                               const acquire_options& how, CompletionToken&& token);
    template <typename Clock, typename Duration, typename CompletionToken>
    auto async_try_acquire_until(const std::chrono::time_point<Clock, Duration>& when,
                                 CompletionToken&& token);
    template <typename Clock, typename Duration, typename CompletionToken>
    auto async_try_acquire_until(const std::chrono::time_point<Clock, Duration>& when,
                                 const acquire_options& how, CompletionToken&& token);

    [[nodiscard]] const std::string& key() const noexcept;  // as given: without options::prefix
    [[nodiscard]] const acquire_options& how() const noexcept;

  private:
    friend struct detail::access;

    bool lock_until(clock::time_point when);
    bool lock_until(clock::time_point when, std::error_code& error);
    acquisition acquire_until(clock::time_point when, const acquire_options& how,
                              std::stop_token stop);
    acquisition acquire_until(clock::time_point when, const acquire_options& how,
                              std::stop_token stop, std::error_code& error);

    std::shared_ptr<detail::shared_client> shared_;
    std::string key_;
    acquire_options how_;
    std::unique_ptr<detail::held_leases> held_;
};

}  // namespace holdfast
