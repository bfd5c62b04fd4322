#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

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
/// Lifetime: mutexes and leases may outlive it; they then fail with errc::closed, and leases are
/// lost. The destructor completes operations under way with errc::closed and joins the thread. It
/// waits for answers to releases that were not awaited, 100 ms at most. Leases are not released:
/// they run out, as after a crash.
/// Fork: a client belongs to the process that made it. In a child every operation fails with
/// errc::forked, and nothing that is destroyed there touches the parent's locks.
class client {
  public:
    explicit client(std::string_view url);
    explicit client(std::vector<std::string> urls);  // several: a quorum
    explicit client(options settings);
    client(client&&) noexcept;
    client& operator=(client&&) noexcept;
    ~client();

    /// Runs `work(lease&)` under the lock, waiting for it as long as it takes, and passes its
    /// result on. Released also when it throws.
    template <typename Work>
    std::invoke_result_t<Work, lease&> with_lock(std::string_view key, Work&& work) {
        return with_lock(key, acquire_options{}, std::forward<Work>(work));
    }
    template <typename Work>
    std::invoke_result_t<Work, lease&> with_lock(std::string_view key, const acquire_options& how,
                                                 Work&& work) {
        lease held = acquire(key, how);
        return std::forward<Work>(work)(held);
    }

    /// Waits for the lock. Throws errc::cancelled once `stop` fires.
    lease acquire(std::string_view key, const acquire_options& how = {}, std::stop_token stop = {});

    /// Connects now, if not connected, and fails as the first operation would.
    void connect();
    void connect(std::error_code& error);

    [[nodiscard]] holdfast::statistics statistics() const;
    [[nodiscard]] const options& settings() const noexcept;

  private:
    friend struct detail::access;
    std::shared_ptr<detail::shared_client> shared_;
};

}  // namespace holdfast
