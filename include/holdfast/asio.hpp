#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <memory>
#include <utility>

#include "holdfast/detail/async.hpp"
#include "holdfast/lease.hpp"
#include "holdfast/mutex.hpp"

/// The operations of mutex and lease as Asio asynchronous operations.
///
///   mutex::async_acquire(how, token)    void(std::exception_ptr, acquisition)
///   lease::async_release(token)         void(std::exception_ptr, release_result)
///   lease::async_renew(ttl, token)      void(std::exception_ptr)
///
/// Completion: exactly once, through the token's associated executor, never inside the initiating
/// call. The exception is a std::system_error with a holdfast::errc; with use_awaitable it is
/// thrown. The work is done by the client's background thread; the caller's executor only runs
/// the handler.
/// Cancellation: the token's associated cancellation slot, any type, from any thread. An acquire
/// then completes with errc::cancelled and leaves nothing behind at the servers. A release or
/// renewal that has been sent cannot be unsent: it completes as it went.
/// Lifetime: the mutex or lease must live until completion.
namespace holdfast {
namespace detail {

/// Carries a completion to the handler's executor, and keeps that executor busy until then.
template <typename Handler>
class completion {
  public:
    explicit completion(Handler handler)
        : handler_(std::move(handler)),
          executor_(boost::asio::prefer(boost::asio::get_associated_executor(handler_),
                                        boost::asio::execution::outstanding_work.tracked)) {}

    template <typename... Results>
    void operator()(Results... results) {
        auto executor = std::move(executor_);
        boost::asio::post(
            executor, [handler = std::move(handler_), ... results = std::move(results)]() mutable {
                std::move(handler)(std::move(results)...);
            });
    }

  private:
    using executor_type = std::decay_t<decltype(boost::asio::prefer(
        std::declval<boost::asio::associated_executor_t<Handler>>(),
        boost::asio::execution::outstanding_work.tracked))>;

    Handler handler_;
    executor_type executor_;
};

/// Starts an operation with `start(done)`, and lets the handler's cancellation slot cancel it.
template <typename Handler, typename Start>
void initiate(Handler&& handler, Start&& start) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    auto done = std::make_shared<completion<std::decay_t<Handler>>>(std::forward<Handler>(handler));
    // The slot must be filled before the completion can run, or it would outlive its operation.
    auto under_way = std::make_shared<std::weak_ptr<pending>>();
    if (slot.is_connected()) {
        slot.assign([under_way](boost::asio::cancellation_type) {
            if (auto operation = under_way->lock()) operation->cancel();
        });
    }
    *under_way = start([done](auto... results) { (*done)(std::move(results)...); });
}

}  // namespace detail

template <typename CompletionToken>
auto mutex::async_acquire(const acquire_options& how, CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, acquisition)>(
        [this](auto handler, acquire_options options) {
            detail::initiate(std::move(handler), [&](detail::acquire_done done) {
                return detail::start_acquire(*this, options, std::move(done));
            });
        },
        token, how);
}

template <typename CompletionToken>
auto lease::async_release(CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, release_result)>(
        [this](auto handler) {
            detail::initiate(std::move(handler), [&](detail::release_done done) {
                return detail::start_release(*this, std::move(done));
            });
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

}  // namespace holdfast
