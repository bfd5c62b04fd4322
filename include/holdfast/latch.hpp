#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "holdfast/client.hpp"
#include "holdfast/detail/deadline.hpp"

namespace holdfast {

/// Limits: beyond them is errc::invalid_option.
inline constexpr std::size_t max_latch_count = 1'000'000;
inline constexpr std::size_t max_participant_bytes = 256;

namespace detail {
class latch_state;
}

struct latch_options {
    /// How long it lives, from when it is set; open or not, it is gone then. From 1 ms to
    /// longest_time. Of several who use one latch the first decides.
    std::chrono::milliseconds ttl{std::chrono::hours(1)};
};

/// A latch that is open once `count` have counted down, as std::latch, among all clients with the
/// same server, database, prefix and name. It opens once, and does not close again.
///
///   not set --- the first count_down() or wait() ---> set --- the last count_down() ---> open
///                                                      \------ ttl over ----> gone <------/
///
///   operation                        blocks until                         not open
///   count_down                       it is counted                        opens it, if it is the
///                                                                         last
///   wait, arrive_and_wait            it is open                           waits
///   try_wait_for, try_wait_until     it is open, or the time is over      false
///   try_wait                         the server has answered              false
///   async_...                        never: holdfast/asio.hpp
///
/// Behind the time wait and the like take a stop_token and an error_code, in this order; each may
/// be left out.
///
/// Counting: by ids, not by a number. count_down() counts once for each call: it has an id of its
/// own, under which it is repeated while no answer comes. count_down(participant) counts once for
/// each participant, whoever calls, and however often: use it where a worker may be started again,
/// or may have to repeat a call that threw, of which nobody knows whether it was counted. Who
/// counts down when it is open changes nothing.
///
/// Missing is not zero: all who use it know the count, and whoever comes first sets it, also who
/// waits. A latch that was seen and is gone before it was open (its ttl is over, it was deleted,
/// the server was emptied or restarted without it) is errc::lost for all who wait for it, and never
/// taken for open. One that is used after it was gone is set anew, with nobody counted: use a name
/// once, and a ttl that is longer than all of it takes. try_wait() sets nothing.
///
/// Waiting: who waits is told by the server when it opens, and only then; one that cannot tell is
/// polled, up to 500 ms apart. Every 5 s it is looked at in any case.
///
/// Not on a quorum: errc::invalid_option. Servers that know nothing of each other may each have
/// heard of others who counted down, and a latch that was open for one must be open for all. Behind
/// Sentinel what is counted is acknowledged by replicas as locks are, so that no fail-over forgets
/// it; without that one that is promoted may have.
///
/// Outages: as of mutex, for options::patience. Thread safety: all members from any thread.
/// Lifetime: it may outlive its client (errc::closed); it holds nothing, and its destructor does
/// nothing.
/// Errors, besides those of every operation (client): errc::lost, errc::cancelled by the
/// stop_token; errc::invalid_option where the latch was set with another count; errc::wrong_type
/// where something else is at the key. In both cases nothing is changed. A lock on the key of a
/// latch is errc::wrong_type, too.
class latch {
  public:
    /// Asks no server. Throws errc::invalid_key; errc::invalid_option for a count of 0 or above
    /// max_latch_count, for the ttl, and for a quorum.
    latch(client& through, std::string name, std::size_t count, latch_options how = {});
    ~latch();
    latch(latch&&) noexcept;
    latch& operator=(latch&&) noexcept;

    void count_down();
    void count_down(std::error_code& error);
    /// errc::invalid_option for an empty participant, or one above max_participant_bytes.
    void count_down(std::string_view participant);
    void count_down(std::string_view participant, std::error_code& error);

    /// Whether it is open. False also where it is not set.
    [[nodiscard]] bool try_wait() const;
    [[nodiscard]] bool try_wait(std::error_code& error) const;

    void wait(std::stop_token stop = {}) const { (void)wait_until(never(), std::move(stop)); }
    void wait(std::error_code& error) const { wait({}, error); }
    void wait(std::stop_token stop, std::error_code& error) const {
        (void)wait_until(never(), std::move(stop), error);
    }

    template <typename Rep, typename Period>
    [[nodiscard]] bool try_wait_for(const std::chrono::duration<Rep, Period>& wait,
                                    std::stop_token stop = {}) const {
        return wait_until(detail::from_now(wait), std::move(stop));
    }
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_wait_for(const std::chrono::duration<Rep, Period>& wait,
                                    std::error_code& error) const {
        return wait_until(detail::from_now(wait), {}, error);
    }
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_wait_for(const std::chrono::duration<Rep, Period>& wait,
                                    std::stop_token stop, std::error_code& error) const {
        return wait_until(detail::from_now(wait), std::move(stop), error);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_wait_until(const std::chrono::time_point<Clock, Duration>& when,
                                      std::stop_token stop = {}) const {
        return wait_until(detail::on_our_clock(when), std::move(stop));
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_wait_until(const std::chrono::time_point<Clock, Duration>& when,
                                      std::error_code& error) const {
        return wait_until(detail::on_our_clock(when), {}, error);
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_wait_until(const std::chrono::time_point<Clock, Duration>& when,
                                      std::stop_token stop, std::error_code& error) const {
        return wait_until(detail::on_our_clock(when), std::move(stop), error);
    }

    /// count_down(), and wait().
    void arrive_and_wait(std::stop_token stop = {}) {
        count_down();
        wait(std::move(stop));
    }

    template <typename CompletionToken>
    auto async_count_down(CompletionToken&& token);
    template <typename CompletionToken>
    auto async_wait(CompletionToken&& token) const;
    template <typename Rep, typename Period, typename CompletionToken>
    auto async_try_wait_for(const std::chrono::duration<Rep, Period>& wait,
                            CompletionToken&& token) const;

    [[nodiscard]] const std::string& name() const noexcept;  // as given: without options::prefix
    [[nodiscard]] std::size_t count() const noexcept;

  private:
    friend struct detail::access;

    static clock::time_point never() { return clock::time_point::max(); }
    bool wait_until(clock::time_point when, std::stop_token stop) const;
    bool wait_until(clock::time_point when, std::stop_token stop, std::error_code& error) const;

    std::shared_ptr<const detail::latch_state> state_;
};

}  // namespace holdfast
