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

/// Who holds a lock, as its owner token told a moment ago. A lock that another library took has an
/// owner and nothing else.
struct holder {
    /// The value of the key; empty in a quarantine. It stays the same when the lease is handed off
    /// within a process: to act on it is to act on whoever holds the lock by then.
    std::string owner{};
    std::string user{};
    std::string host{};
    std::uint64_t pid = 0;
    std::string label{};
    std::optional<std::chrono::milliseconds> remaining{};  // nullopt: no ttl, or not known

    /// It is read, perhaps by many (shared_mutex): this is who came first, and may have left since.
    bool reads = false;

    /// It has other keys, too (multi_mutex), or waits for these, and this one is kept for it until
    /// it has them.
    bool several = false;

    /// It leads by it, or would: election.
    bool leads = false;

    /// Nobody holds it: the server has restarted, and grants nothing for `remaining`.
    bool quarantine = false;

    [[nodiscard]] bool foreign() const { return host.empty() && !quarantine; }

    /// For people, after "held by": `anna@web1, process 4711 (nightly)`, the same behind
    /// `readers, the first of them` or before `, along with other keys`, `another library`, or
    /// `nobody: the server is in quarantine for another 12s`. Control characters are escaped.
    [[nodiscard]] std::string describe() const;
};

/// Reads an owner token: `hf1:<40 hex digits>:<user@host>:<pid>:<label>`; that of a reader begins
/// with `hr1:`, of who has several keys with `hm1:`, a leader's with `he1:`, a permit's `hs1:`.
/// Anything else is foreign().
holder parse_owner(std::string owner);

enum class release_result : std::uint8_t {
    released,      // a majority held it for us, and no longer does; or it was handed off
    already_lost,  // they did not hold it for us any more; or it was released before
    unknown,       // too few answered: repeated while the client lives, else the ttl ends it
};

/// A hold on one key until valid_until(), renewed in the background unless acquire_options::renew
/// is false. T1 and T2 are promises about leases: doc/guarantees.md.
///
///   held ----- release(), destructor ------------------------> released
///     |------- deadline passed, key gone, client destroyed --> lost
///     `------- detach() -------------------------------------> detached, until its ttl is over
///
/// lost() compares the clock: a process that was stopped beyond the deadline finds out in its first
/// call. That the key is gone (deleted, taken by force) is found out by the next renewal, within
/// ttl/3, or by verify(); without renewals by verify() only. A loss is final.
///
/// Unless said otherwise, members block on nothing, ask no server and throw nothing. In a forked
/// child a lease is lost, and release(), detach() and the destructor do nothing.
/// Thread safety: const members from any thread, also while one other thread is in extend(),
/// release() or detach(). To move, assign or destroy it, nobody else may use it. Any thread may
/// release it: leases can be passed between threads and coroutines.
/// Lifetime: it may outlive its client, and is lost then. REQUIRES of a moved-from lease: it is
/// destroyed or assigned to, and nothing else.
class lease {
  public:
    lease(lease&& other) noexcept = default;
    lease& operator=(lease&& other) noexcept;  // releases what it held, as the destructor does

    /// Releases it. Blocks as release() does, unless it is lost or acquire_options::await_release
    /// is false.
    ~lease();

    /// T2: unique, and larger than that of every holder who acquired the key before this one asked
    /// for it; 0 without fencing. Give it to the resource, and let that refuse smaller ones.
    [[nodiscard]] std::uint64_t token() const noexcept;

    /// Of a semaphore: the number of its permit, which no other valid holder has. 0 for all else.
    [[nodiscard]] std::uint32_t slot() const noexcept;

    /// The owner token: what the servers know this holder by, and never another one. Whoever has it
    /// can renew and release the lock (holdfast/operate.hpp), until it is released. A lease whose
    /// owner was asked for is therefore not handed off within the process. First asked for after a
    /// hand-off, or in a child, it is of no use.
    [[nodiscard]] const std::string& owner() const noexcept;
    /// As it was given: without options::prefix. Of a multi_mutex all keys, with commas in between.
    [[nodiscard]] const std::string& key() const noexcept;

    /// The deadline. T1: before it nobody else is a valid holder. Moves with each renewal.
    [[nodiscard]] clock::time_point valid_until() const noexcept;
    [[nodiscard]] clock::duration remaining() const noexcept;  // zero: lost
    [[nodiscard]] bool lost() const noexcept;                  // or released

    /// Stops acquire_options::loss_notice before a deadline that no renewal has moved, or when the
    /// loss is found out; never by a release. Callbacks run in the client's background thread. They
    /// may call the client, and must be quick: other leases may not be renewed meanwhile. Throws
    /// std::bad_alloc.
    [[nodiscard]] std::stop_token stop_token() const;

    /// Throws errc::lost if it is lost, errc::not_held after release(), errc::forked in a child.
    void ensure_held() const;
    void ensure_held(std::error_code& error) const noexcept;

    /// Moves the deadline to that of a ttl from now, if it is later; max_hold caps it. Blocks for
    /// one round trip (see mutex). Throws errc::lost, also after stop_token() has stopped;
    /// errc::not_held after release() or detach(); errc::invalid_option, unless the ttl is from
    /// min_ttl to max_ttl and above twice the guard_time; or why no majority confirmed it, and the
    /// old deadline stands.
    void extend(std::chrono::milliseconds ttl);
    bool extend(std::chrono::milliseconds ttl, std::error_code& error);

    /// Asks the servers whether the key still has our owner, and blocks for one round trip. False:
    /// a majority says that it has not, and the lease is lost; or it was lost or released before.
    /// Throws why no majority could say. After release() nobody is asked.
    [[nodiscard]] bool verify() const;
    [[nodiscard]] bool verify(std::error_code& error) const;

    /// Releases the lock, or hands it off to the next in this client's wait queue. Blocks for one
    /// round trip, whatever await_release says; not with a hand-off. The lease ends in any case. A
    /// second call returns already_lost; one in a child, or after ~client(), unknown.
    release_result release() noexcept;

    /// Ends the renewals without a release: the key stays until its ttl is over, or somebody
    /// releases it by its owner token (holdfast/operate.hpp). After it the deadline stays,
    /// stop_token() does not stop, and release() does nothing and returns already_lost.
    void detach() noexcept;

    /// release() and extend() as Asio asynchronous operations: holdfast/asio.hpp.
    template <typename CompletionToken>
    auto async_release(CompletionToken&& token);
    template <typename CompletionToken>
    auto async_renew(std::chrono::milliseconds ttl, CompletionToken&& token);

  private:
    friend struct detail::access;
    explicit lease(std::shared_ptr<runtime::hold> hold) noexcept;

    std::shared_ptr<runtime::hold> hold_;
};

/// What an attempt brought: a lease, or else held_by(), if that is known.
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
