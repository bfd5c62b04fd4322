#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <exception>
#include <memory>
#include <utility>

#include "holdfast/detail/async.hpp"
#include "holdfast/detail/lockable.hpp"
#include "holdfast/election.hpp"
#include "holdfast/lease.hpp"
#include "holdfast/mutex.hpp"

/// The operations of mutex, and of every other kind of lock, and of leases as Asio asynchronous
/// operations. They promise, require and fail as those of the same name do; async_renew as
/// extend().
///
///   mutex::async_acquire(token)                         void(std::exception_ptr, acquisition)
///   mutex::async_try_acquire_for(wait, token)           the same
///   mutex::async_try_acquire_until(when, token)         the same
///   mutex::async_acquire(how, token), and so on         the same, with other options
///   election_observer::async_next(token)                void(std::exception_ptr, leader)
///   election_observer::async_try_next_for(wait, token)  void(std::exception_ptr,
///                                                            std::optional<leader>)
///   latch::async_count_down(token)                      void(std::exception_ptr)
///   latch::async_wait(token)                            void(std::exception_ptr)
///   latch::async_try_wait_for(wait, token)              void(std::exception_ptr, bool)
///   lease::async_release(token)                         void(std::exception_ptr, release_result)
///   lease::async_renew(ttl, token)                      void(std::exception_ptr)
///
/// Without an exception an acquisition is a lease, or, where there was a time to wait, empty: that
/// was over, and held_by() tells who held the lock. The time runs from when the operation starts,
/// with use_awaitable from the co_await; without any there is one attempt.
///
/// Blocking: none. The client's background thread does the work; the executor runs the handler.
/// Completion: exactly once, posted to the token's associated executor. Every error is a
/// completion, one of the arguments, too; with use_awaitable it is thrown. async_release has one
/// only where it could not begin (errc::closed, errc::forked). The initiating call throws
/// std::bad_alloc alone, before anything has begun. Cancellation: the token's associated
/// cancellation slot, any type, emitted where the handler would run, as Asio asks. An acquire then
/// completes with errc::cancelled, and what it sent is released; so does who waits for a latch, or
/// observes. A release or renewal is not cancelled. Lifetime: the mutex, lease or observer must
/// live until completion. ~client() completes what is under way with errc::closed. Options are
/// copied, and may be written inside a co_await expression, with GCC 12, too: holdfast/label.hpp.
namespace holdfast {
namespace detail {

/// Carries a completion to the handler's executor, and keeps that executor busy until then.
template <typename Handler>
class completion {
  public:
    explicit completion(Handler handler)
        : handler_(std::move(handler)),
          slot_(boost::asio::get_associated_cancellation_slot(handler_)),
          executor_(boost::asio::prefer(boost::asio::get_associated_executor(handler_),
                                        boost::asio::execution::outstanding_work.tracked)) {}

    template <typename... Results>
    void operator()(Results... results) {
        auto executor = std::move(executor_);
        boost::asio::post(executor, [handler = std::move(handler_), slot = slot_,
                                     ... results = std::move(results)]() mutable {
            if (slot.is_connected()) slot.clear();
            std::move(handler)(std::move(results)...);
        });
    }

  private:
    using executor_type = std::decay_t<decltype(boost::asio::prefer(
        std::declval<boost::asio::associated_executor_t<Handler>>(),
        boost::asio::execution::outstanding_work.tracked))>;

    Handler handler_;
    boost::asio::associated_cancellation_slot_t<Handler> slot_;
    executor_type executor_;
};

/// Starts an operation with `start(done)`, and lets the handler's cancellation slot cancel it. What
/// `start` throws completes it too, with `none` for results.
template <typename Handler, typename Start, typename... None>
void initiate(Handler&& handler, Start&& start, None... none) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    auto done = std::make_shared<completion<std::decay_t<Handler>>>(std::forward<Handler>(handler));
    // The slot is filled before the operation starts: its completion empties it again.
    auto under_way = std::make_shared<std::shared_ptr<pending>>();
    if (slot.is_connected()) {
        slot.assign([under_way](boost::asio::cancellation_type) {
            if (*under_way) (*under_way)->cancel();
        });
    }
    try {
        *under_way = start([done](auto... results) { (*done)(std::move(results)...); });
    } catch (...) {
        (*done)(std::current_exception(), std::move(none)...);
    }
}

/// Acquires until `deadline()`, which is asked when the operation starts: it may be long after the
/// call.
template <typename Deadline, typename CompletionToken>
auto async_acquire_until(lockable& which, Deadline deadline, const acquire_options& how,
                         CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, acquisition)>(
        [&which, deadline](auto handler, acquire_options options) {
            initiate(
                std::move(handler),
                [&](acquire_done done) {
                    return start_acquire(which, options, deadline(), std::move(done));
                },
                acquisition{});
        },
        token, how);
}

}  // namespace detail

template <typename CompletionToken>
auto detail::lockable::async_acquire(const acquire_options& how, CompletionToken&& token) {
    return detail::async_acquire_until(
        *this, [] { return clock::time_point::max(); }, how, std::forward<CompletionToken>(token));
}

template <typename CompletionToken>
auto detail::lockable::async_acquire(CompletionToken&& token) {
    return async_acquire(how(), std::forward<CompletionToken>(token));
}

template <typename Rep, typename Period, typename CompletionToken>
auto detail::lockable::async_try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                             const acquire_options& how, CompletionToken&& token) {
    return detail::async_acquire_until(
        *this, [wait] { return detail::from_now(wait); }, how,
        std::forward<CompletionToken>(token));
}

template <typename Rep, typename Period, typename CompletionToken>
auto detail::lockable::async_try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                             CompletionToken&& token) {
    return async_try_acquire_for(wait, how(), std::forward<CompletionToken>(token));
}

template <typename Clock, typename Duration, typename CompletionToken>
auto detail::lockable::async_try_acquire_until(const std::chrono::time_point<Clock, Duration>& when,
                                               const acquire_options& how,
                                               CompletionToken&& token) {
    return detail::async_acquire_until(
        *this, [when] { return detail::on_our_clock(when); }, how,
        std::forward<CompletionToken>(token));
}

template <typename Clock, typename Duration, typename CompletionToken>
auto detail::lockable::async_try_acquire_until(const std::chrono::time_point<Clock, Duration>& when,
                                               CompletionToken&& token) {
    return async_try_acquire_until(when, how(), std::forward<CompletionToken>(token));
}

template <typename CompletionToken>
auto lease::async_release(CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, release_result)>(
        [this](auto handler) {
            detail::initiate(
                std::move(handler),
                [&](detail::release_done done) {
                    return detail::start_release(*this, std::move(done));
                },
                release_result::unknown);
        },
        token);
}

template <typename CompletionToken>
auto lease::async_renew(std::chrono::milliseconds ttl, CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr)>(
        [this](auto handler, std::chrono::milliseconds wanted) {
            detail::initiate(std::move(handler), [&](detail::renew_done done) {
                return detail::start_renew(*this, wanted, std::move(done));
            });
        },
        token, ttl);
}

template <typename CompletionToken>
auto election_observer::async_next(CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, leader)>(
        [this](auto handler) {
            detail::initiate(
                std::move(handler),
                [&](auto done) {
                    return detail::start_next(
                        *this, clock::time_point::max(),
                        [done](std::exception_ptr why, std::optional<leader> now) {
                            done(std::move(why), std::move(now).value_or(leader{}));
                        });
                },
                leader{});
        },
        token);
}

template <typename Rep, typename Period, typename CompletionToken>
auto election_observer::async_try_next_for(const std::chrono::duration<Rep, Period>& wait,
                                           CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken,
                                       void(std::exception_ptr, std::optional<leader>)>(
        [this, wait](auto handler) {
            detail::initiate(
                std::move(handler),
                [&](detail::next_done done) {
                    return detail::start_next(*this, detail::from_now(wait), std::move(done));
                },
                std::optional<leader>{});
        },
        token);
}

template <typename CompletionToken>
auto latch::async_count_down(CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr)>(
        [this](auto handler) {
            detail::initiate(std::move(handler), [&](detail::renew_done done) {
                return detail::start_count_down(*this, std::move(done));
            });
        },
        token);
}

template <typename CompletionToken>
auto latch::async_wait(CompletionToken&& token) const {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr)>(
        [this](auto handler) {
            detail::initiate(std::move(handler), [&](auto done) {
                return detail::start_wait(
                    *this, clock::time_point::max(),
                    [done](std::exception_ptr why, bool) { done(std::move(why)); });
            });
        },
        token);
}

template <typename Rep, typename Period, typename CompletionToken>
auto latch::async_try_wait_for(const std::chrono::duration<Rep, Period>& wait,
                               CompletionToken&& token) const {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, bool)>(
        [this, wait](auto handler) {
            detail::initiate(
                std::move(handler),
                [&](detail::wait_done done) {
                    return detail::start_wait(*this, detail::from_now(wait), std::move(done));
                },
                false);
        },
        token);
}

}  // namespace holdfast
