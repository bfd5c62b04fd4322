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

/// The connections to the server that grants locks, or to all servers of a quorum, shared by
/// everything that locks through the client.
///
/// Construction connects to nothing; the first operation does. A broken connection is made again in
/// the background, with a growing, random back-off. Blocking operations are driven by the thread
/// that calls them. One background thread, started when first needed, renews leases, reconnects,
/// serves asynchronous operations and runs callbacks of lease::stop_token(). It takes no signals.
///
/// Unless said otherwise, an operation on a client, mutex or lease
///   - may be called from any thread;
///   - throws std::system_error with a holdfast::errc (holdfast/error.hpp), or EAGAIN where the
///     background thread cannot be started; or std::bad_alloc. An overload with a std::error_code&
///     stores these instead, the last one as std::errc::not_enough_memory;
///   - that fails to acquire holds nothing: what it may have left at the servers is released, for
///     as long as the client lives, or expires with its ttl;
///   - fails with errc::closed when the client was destroyed or moved from;
///   - fails with errc::forked in a child process: a client belongs to the process that made it.
///     Nothing that is destroyed in a child touches the parent's locks.
///
/// Lifetime: mutexes and leases may outlive their client, and follow one that is moved. To move,
/// assign to or destroy a client REQUIRES that no other thread is about to call it; calls that
/// block already end with errc::closed.
/// Keys: options::prefix goes before every key at the servers, and is never shown: not in
/// lease::key() or lock_status::key, in messages or in the log.
class client {
  public:
    /// client{"redis://a"}, or client{"redis://a", "redis://b", "redis://c"}, a quorum: any kind of
    /// string. All constructors throw errc::invalid_url and errc::invalid_option, for TLS files,
    /// too; and a std::exception that says so where the process has no descriptors left.
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
    client& operator=(client&&) noexcept;  // ends what it was before as ~client() does

    /// Ends operations under way with errc::closed. Releases no lease: they are lost, and expire at
    /// the servers as after a crash. Blocks for 100 ms at most on answers to releases that were not
    /// awaited, and on callbacks that run. The last of a client, its mutexes and its leases also
    /// blocks on a host name that is being resolved (getaddrinfo).
    ~client();

    /// Acquires as acquire() does, returns `work(lease&)`, or `work()` where it takes no lease, and
    /// releases, also when `work` throws. Does not tell that the lease was lost meanwhile: `work`
    /// can ask it (lease::ensure_held()).
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

    /// These block, throw and check keys and options as a mutex does. This one waits for the lock;
    /// errc::cancelled once `stop` is requested.
    [[nodiscard]] lease acquire(std::string_view key, const acquire_options& how = {},
                                std::stop_token stop = {});

    /// One attempt: a lease, or who holds the lock instead.
    [[nodiscard]] acquisition try_acquire(std::string_view key, const acquire_options& how = {});

    /// Waits for that long at most; without time to wait, one attempt.
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

    /// Blocks until every server has answered a PING or failed to: for connect_timeout and
    /// node_timeout at most; options::patience does not apply. Throws why no majority answered.
    /// Whether they may grant locks (eviction, a replica, quarantine) it does not tell: examine().
    void connect();
    void connect(std::error_code& error);

    /// Asks no server.
    [[nodiscard]] holdfast::statistics statistics() const;

    /// What is in force: with the parameters of the URLs, defaults filled in, passwords included.
    /// In a child, too. Of a moved-from client: options{}. Valid while the client lives.
    [[nodiscard]] const options& settings() const noexcept;

  private:
    friend struct detail::access;

    static options with_urls(std::vector<std::string> urls);
    acquisition acquire_until(std::string_view key, clock::time_point when,
                              const acquire_options& how, std::stop_token stop);

    std::shared_ptr<detail::shared_client> shared_;
};

}  // namespace holdfast
