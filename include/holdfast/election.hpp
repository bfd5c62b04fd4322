#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include "holdfast/client.hpp"
#include "holdfast/detail/deadline.hpp"
#include "holdfast/detail/lockable.hpp"
#include "holdfast/lease.hpp"

namespace holdfast {

/// The longest value of a candidate; a longer one is errc::invalid_option.
inline constexpr std::size_t max_leader_value_bytes = 4096;

/// Who leads, as a majority of the servers had it a moment ago. False: nobody does.
struct leader {
    std::uint64_t term = 0;  // the fencing token of its lease; 0: nobody leads
    std::string value{};     // what it stood for election with
    holder who{};            // with its owner token, and how long its lease still runs

    [[nodiscard]] explicit operator bool() const noexcept { return term != 0; }
};

/// A candidate for the lead among all clients with the same servers, database, prefix and name.
/// To lead is to hold a lock of that name, by a lease as any other: at most one valid leader at a
/// time (T1), each in a term of its own, its fencing token, which is larger than those of all
/// before it (T2): doc/guarantees.md.
///
///   candidate --- campaign() ---> leads --- resign(), release of the lease ---> candidate
///                                   \------ lease lost -----------------------> candidate
///
///   campaign, try_campaign, and so on   acquire, try_acquire, and so on, of every lock, with the
///                                       same arguments behind. What they block on, throw and
///                                       require is said at mutex. Options in braces:
///                                       acquire({.ttl = 5s})
///   async_campaign, and so on           the same: holdfast/asio.hpp
///
/// What comes of it is the lease: its token() is the term, its stop_token() warns before the lead
/// is lost, its release() resigns. is_leader() and resign() are for those who do not have it.
/// Whoever leads says so, with the value, in the step that grants the lock: leader() and observers
/// need not know the candidates. One that resigns takes it back in the step that releases; what one
/// that crashed has left says nothing once its lease is over.
///
/// Waiting: candidates stand in line at one server, in the order of arrival, each for itself, also
/// within a process. In a quorum there is no order. A mutex of the same name keeps candidates out,
/// and leads nobody; other libraries, too.
///
/// Thread safety: as of mutex. One object stands once at a time: with a second campaign under way,
/// is_leader() and resign() speak of the last that was won.
/// Lifetime: the lease may outlive it, and leads on. REQUIRES: as of mutex.
/// Errors, besides those of mutex: errc::invalid_option without fencing, or for a value that is too
/// long; errc::wrong_type where something else stands at `holdfast:{name}:leader`: nothing is
/// changed then.
class election : public detail::lockable {
  public:
    /// Asks no server, and throws as mutex does.
    election(client& through, std::string name, std::string value = {}, acquire_options how = {});
    ~election();

    template <typename... Arguments>
    [[nodiscard]] auto campaign(Arguments&&... how) {
        return acquire(std::forward<Arguments>(how)...);
    }
    template <typename... Arguments>
    [[nodiscard]] auto try_campaign(Arguments&&... how) {
        return try_acquire(std::forward<Arguments>(how)...);
    }
    template <typename Wait, typename... Arguments>
    [[nodiscard]] auto try_campaign_for(const Wait& wait, Arguments&&... how) {
        return try_acquire_for(wait, std::forward<Arguments>(how)...);
    }
    template <typename When, typename... Arguments>
    [[nodiscard]] auto try_campaign_until(const When& when, Arguments&&... how) {
        return try_acquire_until(when, std::forward<Arguments>(how)...);
    }
    template <typename... Arguments>
    auto async_campaign(Arguments&&... how) {
        return async_acquire(std::forward<Arguments>(how)...);
    }
    template <typename Wait, typename... Arguments>
    auto async_try_campaign_for(const Wait& wait, Arguments&&... how) {
        return async_try_acquire_for(wait, std::forward<Arguments>(how)...);
    }

    /// Whether this candidate leads, by its last lease: compares the clock with the deadline of
    /// that, and asks no server. False in a child.
    [[nodiscard]] bool is_leader() const noexcept;

    /// The term in which it does; 0: it does not.
    [[nodiscard]] std::uint64_t term() const noexcept;

    /// Releases that lease, as its release() does, and returns the same. already_lost: it did not
    /// lead.
    release_result resign() noexcept;

    /// Who leads now: one round trip, at node_timeout and connect_timeout at most; patience does
    /// not apply. In a quorum whoever a majority has as the leader. Throws why no majority could
    /// say.
    [[nodiscard]] holdfast::leader leader() const;
    [[nodiscard]] holdfast::leader leader(std::error_code& error) const;

    [[nodiscard]] const std::string& name() const noexcept { return key(); }
    [[nodiscard]] const std::string& value() const noexcept;

  private:
    election(client& through, std::string name, acquire_options how,
             std::shared_ptr<runtime::candidacy> candidate);
    std::shared_ptr<runtime::hold> last_lease() const noexcept;

    std::shared_ptr<runtime::candidacy> candidate_;
};

namespace detail {
class observation;
}

/// Tells of each change of who leads: of elections, resignations and losses, not of renewals.
///
///   next()                              blocks until somebody else leads, or nobody, than was told
///                                       last; the first time it tells who leads now, at once
///   try_next_for(wait), _until(when)    the same, or nullopt: the time is over
///   async_next, async_try_next_for      never blocks: holdfast/asio.hpp
///
/// Behind the time they take a stop_token and an error_code, in this order; each may be left out.
///
/// Who waits is told by the servers (CLIENT TRACKING), and asks once for what they have: a round
/// trip. That a leader crashed is found out when its lease is over. A lock deleted by hand, or by
/// FLUSHDB, is found out within 5 s; where servers cannot tell, every change within 500 ms. What
/// follows faster than it is asked for, or between two calls, is told as one change: who led only
/// in between is not heard of, but the term shows that somebody did.
///
/// Outages: it goes on for options::patience while no majority answers, and then fails with what
/// kept it. It can be called again, and tells of what has changed meanwhile.
///
/// Thread safety: one call at a time. Lifetime: it may outlive its client: errc::closed.
/// Errors: those of every operation (client), and errc::cancelled by the stop_token.
class election_observer {
  public:
    /// Asks no server. Throws errc::invalid_key.
    election_observer(client& through, std::string name);
    ~election_observer();
    election_observer(election_observer&&) noexcept;
    election_observer& operator=(election_observer&&) noexcept;

    leader next(std::stop_token stop = {}) { return *next_until(never(), std::move(stop)); }
    leader next(std::error_code& error) { return next({}, error); }
    leader next(std::stop_token stop, std::error_code& error) {
        return next_until(never(), std::move(stop), error).value_or(leader{});
    }

    template <typename Rep, typename Period>
    std::optional<leader> try_next_for(const std::chrono::duration<Rep, Period>& wait,
                                       std::stop_token stop = {}) {
        return next_until(detail::from_now(wait), std::move(stop));
    }
    template <typename Rep, typename Period>
    std::optional<leader> try_next_for(const std::chrono::duration<Rep, Period>& wait,
                                       std::error_code& error) {
        return next_until(detail::from_now(wait), {}, error);
    }
    template <typename Rep, typename Period>
    std::optional<leader> try_next_for(const std::chrono::duration<Rep, Period>& wait,
                                       std::stop_token stop, std::error_code& error) {
        return next_until(detail::from_now(wait), std::move(stop), error);
    }
    template <typename Clock, typename Duration>
    std::optional<leader> try_next_until(const std::chrono::time_point<Clock, Duration>& when,
                                         std::stop_token stop = {}) {
        return next_until(detail::on_our_clock(when), std::move(stop));
    }
    template <typename Clock, typename Duration>
    std::optional<leader> try_next_until(const std::chrono::time_point<Clock, Duration>& when,
                                         std::error_code& error) {
        return next_until(detail::on_our_clock(when), {}, error);
    }
    template <typename Clock, typename Duration>
    std::optional<leader> try_next_until(const std::chrono::time_point<Clock, Duration>& when,
                                         std::stop_token stop, std::error_code& error) {
        return next_until(detail::on_our_clock(when), std::move(stop), error);
    }

    template <typename CompletionToken>
    auto async_next(CompletionToken&& token);
    template <typename Rep, typename Period, typename CompletionToken>
    auto async_try_next_for(const std::chrono::duration<Rep, Period>& wait,
                            CompletionToken&& token);

    [[nodiscard]] const std::string& name() const noexcept;

  private:
    friend struct detail::access;

    static clock::time_point never() { return clock::time_point::max(); }
    std::optional<leader> next_until(clock::time_point when, std::stop_token stop);
    std::optional<leader> next_until(clock::time_point when, std::stop_token stop,
                                     std::error_code& error);

    std::shared_ptr<detail::observation> observation_;
};

}  // namespace holdfast
