#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "holdfast/detail/deadline.hpp"
#include "holdfast/lease.hpp"
#include "holdfast/options.hpp"
#include "holdfast/statistics.hpp"

namespace holdfast {

namespace detail {
class shared_client;
}

/// The connection to the server that votes on locks, or to the quorum of them, shared by everything
/// that locks through it.
///
/// Construction checks the options and connects to nothing; the first operation does. A broken
/// connection is made again in the background, with growing pauses.
///
/// Blocking operations are driven by the thread that waits for them: there is no hand-over to
/// another thread on that path. One background thread renews leases and serves asynchronous
/// operations; it sleeps otherwise.
///
/// Thread safety: all members may be called from any thread.
/// Errors: the constructor throws std::system_error with errc::invalid_url or errc::invalid_option.
/// Operations throw as those of mutex do (holdfast/error.hpp has what each error means); connect()
/// what keeps a majority from being reached.
/// Lifetime: mutexes and leases may outlive it; they then fail with errc::closed, and leases are
/// lost. The destructor completes operations under way with errc::closed and joins the thread. It
/// waits for answers to releases that were not awaited, 100 ms at most. Leases are not released:
/// they run out, as after a crash. Of one that was moved from every operation fails with
/// errc::closed, until it is assigned to, and settings() are the defaults.
/// Keys: options::prefix is put before every key that goes to the servers, and is never shown.
/// What tells a key (lease::key(), lock_status::key, messages, the log) tells it as it was given.
/// Fork: a client belongs to the process that made it. In a child every operation fails with
/// errc::forked, and nothing that is destroyed there touches the parent's locks.
class client {
  public:
    /// client{"redis://a"}, or client{"redis://a", "redis://b", "redis://c"}, a quorum: any kind of
    /// string.
    template <std::convertible_to<std::string_view>... Urls>
    // NOLINTNEXTLINE(google-explicit-constructor): it is, with one argument
    requires(sizeof...(Urls) > 0) explicit(sizeof...(Urls) == 1) client(const Urls&... urls)
        : client(with_urls({std::string(std::string_view(urls))...})) {}
    template <std::same_as<std::vector<std::string>> Urls>
    explicit client(Urls urls) : client(with_urls(std::move(urls))) {}
    /// client{{.urls = {url}, .label = "x"}}. The others are templates for its sake: braces deduce
    /// nothing, so that they can only be options.
    explicit client(options settings);
    client(client&&) noexcept;
    client& operator=(client&&) noexcept;
    ~client();

    /// Runs `work(lease&)`, or `work()` where it takes no lease, under the lock, waiting for it as
    /// long as it takes, and passes its result on. Released also when it throws.
    template <typename Work>
    decltype(auto) with_lock(std::string_view key, Work&& work) {
        return with_lock(key, acquire_options{}, std::forward<Work>(work));
    }
    template <typename Work>
    decltype(auto) with_lock(std::string_view key, const acquire_options& how, Work&& work) {
        lease held = acquire(key, how);
        if constexpr (std::invocable<Work, lease&>) {
            return std::invoke(std::forward<Work>(work), held);
        } else {
            return std::invoke(std::forward<Work>(work));
        }
    }

    /// Waits for the lock. Throws errc::cancelled once `stop` fires.
    [[nodiscard]] lease acquire(std::string_view key, const acquire_options& how = {},
                                std::stop_token stop = {});

    /// One attempt, no waiting: a lease, or who holds the lock instead.
    [[nodiscard]] acquisition try_acquire(std::string_view key, const acquire_options& how = {});

    /// Waits for so long at most, or until `stop` fires; without time to wait, one attempt.
    template <typename Rep, typename Period>
    [[nodiscard]] acquisition try_acquire_for(std::string_view key,
                                              const std::chrono::duration<Rep, Period>& wait,
                                              const acquire_options& how = {},
                                              const std::stop_token& stop = {}) {
        return acquire_until(key, detail::from_now(wait), how, stop);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] acquisition try_acquire_until(
        std::string_view key, const std::chrono::time_point<Clock, Duration>& when,
        const acquire_options& how = {}, const std::stop_token& stop = {}) {
        return acquire_until(key, detail::on_our_clock(when), how, stop);
    }

    /// Connects now, if not connected, and fails as the first operation would.
    void connect();
    void connect(std::error_code& error);

    [[nodiscard]] holdfast::statistics statistics() const;
    [[nodiscard]] const options& settings() const noexcept;

  private:
    friend struct detail::access;

    static options with_urls(std::vector<std::string> urls);
    acquisition acquire_until(std::string_view key, clock::time_point when,
                              const acquire_options& how, std::stop_token stop);

    std::shared_ptr<detail::shared_client> shared_;
};

}  // namespace holdfast
