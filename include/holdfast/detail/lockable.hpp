#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "holdfast/client.hpp"
#include "holdfast/detail/deadline.hpp"
#include "holdfast/detail/timed.hpp"
#include "holdfast/lease.hpp"

namespace holdfast {

namespace kinds {
class kind;
}  // namespace kinds
namespace runtime {
struct candidacy;
}  // namespace runtime

namespace detail {

class held_leases;

/// The operations of every kind of lock. Kinds differ in who excludes whom; what operations block
/// on, throw and require is the same for all, and said at mutex. try_lock_for and try_lock_until:
/// holdfast/detail/timed.hpp.
class lockable : public timed<lockable> {
  public:
    lockable(const lockable&) = delete;
    lockable& operator=(const lockable&) = delete;

    /// REQUIRES: the calling thread does not hold it. With an error, or false, it holds nothing.
    void lock();
    void lock(std::error_code& error);
    bool try_lock();
    bool try_lock(std::error_code& error);

    /// Releases the calling thread's lease. Where it has none nothing is done but a record in the
    /// log, or errc::not_held. In a child: nothing, or errc::forked. Does not tell that the lease
    /// was lost, or the release not confirmed: current()->lost() before it, or lease::release().
    void unlock() noexcept;
    void unlock(std::error_code& error) noexcept;

    /// The lease behind lock(), for its token, stop_token and deadline; null: the calling thread
    /// holds none. Valid until that thread unlocks. Blocks on nothing. Null in a child.
    [[nodiscard]] const lease* current() const noexcept;

    /// Waits without a limit, or until `stop` is requested. With an error the acquisition is empty.
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

    /// One attempt. Empty without an error: held_by() tells by whom, as far as it is known.
    [[nodiscard]] acquisition try_acquire();
    [[nodiscard]] acquisition try_acquire(std::error_code& error) {
        return try_acquire(how(), error);
    }
    [[nodiscard]] acquisition try_acquire(const acquire_options& how);
    [[nodiscard]] acquisition try_acquire(const acquire_options& how, std::error_code& error);

    /// Waits for that long at most, or until `stop` is requested; without time to wait, one
    /// attempt.
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait) {
        return acquire_until(from_now(wait), how(), {});
    }
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                              std::error_code& error) {
        return acquire_until(from_now(wait), how(), {}, error);
    }
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                              std::same_as<std::stop_token> auto stop) {
        return acquire_until(from_now(wait), how(), stop);
    }
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                              std::same_as<std::stop_token> auto stop,
                                              std::error_code& error) {
        return acquire_until(from_now(wait), how(), stop, error);
    }
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                              const acquire_options& how,
                                              std::stop_token stop = {}) {
        return acquire_until(from_now(wait), how, stop);
    }
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                              const acquire_options& how, std::error_code& error) {
        return acquire_until(from_now(wait), how, {}, error);
    }
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                              const acquire_options& how, std::stop_token stop,
                                              std::error_code& error) {
        return acquire_until(from_now(wait), how, stop, error);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when) {
        return acquire_until(on_our_clock(when), how(), {});
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when, std::error_code& error) {
        return acquire_until(on_our_clock(when), how(), {}, error);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when,
        std::same_as<std::stop_token> auto stop) {
        return acquire_until(on_our_clock(when), how(), stop);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when,
        std::same_as<std::stop_token> auto stop, std::error_code& error) {
        return acquire_until(on_our_clock(when), how(), stop, error);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when, const acquire_options& how,
        std::stop_token stop = {}) {
        return acquire_until(on_our_clock(when), how, stop);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when, const acquire_options& how,
        std::error_code& error) {
        return acquire_until(on_our_clock(when), how, {}, error);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        const std::chrono::time_point<Clock, Duration>& when, const acquire_options& how,
        std::stop_token stop, std::error_code& error) {
        return acquire_until(on_our_clock(when), how, stop, error);
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

    /// As given: without options::prefix. Of several keys all of them, with commas in between.
    [[nodiscard]] const std::string& key() const noexcept;
    [[nodiscard]] const acquire_options& how() const noexcept;

  protected:
    /// As that of mutex. `permits`: of a semaphore.
    lockable(client& through, std::string key, acquire_options how, const kinds::kind& which,
             std::shared_ptr<runtime::candidacy> candidate = nullptr, std::uint32_t permits = 0);
    /// As that of multi_mutex.
    lockable(client& through, std::vector<std::string> keys, acquire_options how);
    ~lockable();

  private:
    friend struct detail::access;
    friend class timed<lockable>;

    bool lock_until(clock::time_point when);
    bool lock_until(clock::time_point when, std::error_code& error);
    acquisition acquire_until(clock::time_point when, const acquire_options& how,
                              std::stop_token stop);
    acquisition acquire_until(clock::time_point when, const acquire_options& how,
                              std::stop_token stop, std::error_code& error);

    std::shared_ptr<shared_client> shared_;
    std::string key_;
    acquire_options how_;
    std::unique_ptr<held_leases> held_;
};

}  // namespace detail
}  // namespace holdfast
