#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include "holdfast/clock.hpp"

namespace holdfast {

namespace detail {
struct access;
}  // namespace detail
namespace runtime {
class hold;
}  // namespace runtime

/// Who holds a lock, as far as the owner token tells. A lock that another library took has an
/// owner and nothing else.
struct holder {
    /// The value of the key; empty: not a lock that anybody holds, see below. Within a process it
    /// may go from one holder to the next: whoever acts by it acts on whoever holds the lock then.
    std::string owner{};
    std::string user{};
    std::string host{};
    std::uint64_t pid = 0;
    std::string label{};
    std::optional<std::chrono::milliseconds> remaining{};  // of its lease; nullopt: never expires

    /// The server has restarted and grants nothing to anybody for `remaining`.
    bool quarantine = false;

    [[nodiscard]] bool foreign() const { return host.empty() && !quarantine; }

    /// For people, to follow "held by": `anna@web1, process 4711 (nightly)`, `another library`, or
    /// `nobody: the server is in quarantine for another 12s`. Control characters are escaped.
    [[nodiscard]] std::string describe() const;
};

/// Reads an owner token: `hf1:<40 hex digits>:<user@host>:<pid>:<label>`. Anything else is taken
/// to be foreign.
holder parse_owner(std::string owner);

enum class release_result : std::uint8_t {
    released,      // the servers held it for us, and no longer do; or it was handed off
    already_lost,  // they did not hold it for us any more
    unknown,       // too few answered; what is left of it expires with its ttl
};

/// A hold on one key until valid_until(), renewed in the background unless asked otherwise.
///
///   held ----- release(), destructor ------> released
///     \------- deadline passed, key gone --> lost        (stop_token() has fired before)
///
/// Thread safety: distinct objects are safe. One object may be read from any thread, and moved,
/// extended or released by one thread at a time. It may be moved to another thread or coroutine
/// and released there. After its client is gone it is lost, and still safe to use and destroy. One
/// that was moved from may only be destroyed, or be assigned to.
///
/// A process that was stopped beyond the deadline finds lost() true in its very next call: the
/// clock is asked, not a flag. stop_token() follows as soon as a thread of the client runs.
///
/// Errors: none after construction but from ensure_held(), extend() and verify(). release() and
/// the destructor never throw; release() reports what it found.
class lease {
  public:
    lease(lease&& other) noexcept = default;
    lease& operator=(lease&& other) noexcept;
    ~lease();

    /// Strictly larger than the token of every earlier holder of this key; 0 without fencing.
    /// Give it to the resource, and let the resource refuse smaller ones: doc/guarantees.md.
    [[nodiscard]] std::uint64_t token() const noexcept;

    /// What the servers know this holder by, and nobody else ever: whoever is given it can verify,
    /// extend and release the lock (holdfast/operate.hpp) until it is let go, and nothing after
    /// that. So a lease whose owner was asked for is not handed off within the process. Asked for
    /// only after it was handed off, or first in a forked child, it is a string without any use.
    [[nodiscard]] const std::string& owner() const noexcept;
    /// As it was given: without options::prefix.
    [[nodiscard]] const std::string& key() const noexcept;

    /// The deadline: no other holder exists before it. Moves on with each renewal.
    [[nodiscard]] clock::time_point valid_until() const noexcept;
    [[nodiscard]] clock::duration remaining() const noexcept;  // zero when lost
    [[nodiscard]] bool lost() const noexcept;  // or released: not to be believed any more

    /// Stops when the loss is foreseen (`loss_notice` before an unrenewed deadline) or found out.
    /// Released leases do not stop it.
    [[nodiscard]] std::stop_token stop_token() const;

    /// Throws errc::lost if the deadline has passed or the key is known to be gone, and
    /// errc::not_held after release().
    void ensure_held() const;
    void ensure_held(std::error_code& error) const noexcept;

    /// Lets the lease live for `ttl` from now, if that is longer and max_hold allows it. Throws
    /// errc::lost, also once stop_token() has announced the loss, which cannot be taken back; or
    /// errc::unreachable when it could not be confirmed: then the old deadline stands. After
    /// release(), errc::not_held.
    void extend(std::chrono::milliseconds ttl);
    bool extend(std::chrono::milliseconds ttl, std::error_code& error);

    /// Asks the servers whether the key still holds our owner. False once it was released or lost,
    /// whatever they have; and where a majority says that it does not, which is the loss of the
    /// lease.
    [[nodiscard]] bool verify() const;
    [[nodiscard]] bool verify(std::error_code& error) const;

    /// Gives the lock back and waits for the answer. A second call says already_lost.
    release_result release() noexcept;

    /// Stops renewing and lets go without releasing: the lock stays until its ttl is over, or
    /// until somebody releases it by its owner token (holdfast/operate.hpp).
    void detach() noexcept;

    /// The same as Asio asynchronous operations, with completion tokens: see holdfast/asio.hpp.
    template <typename CompletionToken>
    auto async_release(CompletionToken&& token);
    template <typename CompletionToken>
    auto async_renew(std::chrono::milliseconds ttl, CompletionToken&& token);

  private:
    friend struct detail::access;
    explicit lease(std::shared_ptr<runtime::hold> hold) noexcept;

    std::shared_ptr<runtime::hold> hold_;
};

/// What an attempt brought: a lease, or who holds the lock instead, if that is known.
class acquisition : public std::optional<lease> {
  public:
    using std::optional<lease>::optional;

    [[nodiscard]] const std::optional<holder>& held_by() const& noexcept { return held_by_; }
    [[nodiscard]] std::optional<holder> held_by() && noexcept { return std::move(held_by_); }

  private:
    friend struct detail::access;
    std::optional<holder> held_by_{};
};

}  // namespace holdfast
