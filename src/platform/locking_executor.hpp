#pragma once

#include <boost/asio/execution/context.hpp>
#include <boost/asio/io_context.hpp>
#include <utility>

#include "base/locks.hpp"

namespace holdfast::platform {

/// Runs whatever it is given on an io_context, with a mutex held.
///
/// Handlers bound to it take all the steps between them along: what a TLS stream does when bytes
/// arrive, to make plain text of them or to answer, runs under the mutex too. Without that it would
/// meet whoever writes from another thread in the middle of OpenSSL.
class locking_executor {
  public:
    locking_executor(boost::asio::io_context& io, base::client_mutex& guard) noexcept
        : io_(&io), guard_(&guard) {}

    boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
        return *io_;
    }

    /// Called by Asio from a thread that runs the io_context and does not hold the mutex.
    template <typename Function>
    void execute(Function function) const {
        io_->get_executor().execute([guard = guard_, work = std::move(function)]() mutable {
            const base::client_lock lock(*guard);
            work();
        });
    }

    friend bool operator==(const locking_executor& left, const locking_executor& right) noexcept {
        return left.io_ == right.io_ && left.guard_ == right.guard_;
    }
    friend bool operator!=(const locking_executor& left, const locking_executor& right) noexcept {
        return !(left == right);
    }

  private:
    boost::asio::io_context* io_;
    base::client_mutex* guard_;
};

}  // namespace holdfast::platform
