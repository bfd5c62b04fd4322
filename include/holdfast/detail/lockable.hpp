#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include "holdfast/client.hpp"
#include "holdfast/detail/deadline.hpp"
#include "holdfast/detail/timed.hpp"
#include "holdfast/lease.hpp"

namespace holdfast {

namespace kinds {
class kind;
}  // namespace kinds

namespace detail {

class held_leases;

/// What can be done with a lock of any kind: see mutex, which is the first. The kinds differ in who
/// excludes whom; how one waits, gives up and fails is the same for all: mutex says what operations
/// block on and throw, and what they may be called from. Those with a time:
/// holdfast/detail/timed.hpp.
class lockable : public timed<lockable> {
  public:
    lockable(const lockable&) = delete;
    lockable& operator=(const lockable&) = delete;

    void lock();
    void lock(std::error_code& error);
    bool try_lock();
    bool try_lock(std::error_code& error);

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

    [[nodiscard]] const std::string& key() const noexcept;  // as given: without options::prefix
    [[nodiscard]] const acquire_options& how() const noexcept;

  protected:
    /// As mutex's.
    lockable(client& through, std::string key, acquire_options how, const kinds::kind& which);
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
