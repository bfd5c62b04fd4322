#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>
#include <deque>
#include <stdexcept>

#include "contest.hpp"
#include "floor.hpp"
#include "holdfast/asio.hpp"
#include "holdfast/holdfast.hpp"
#include "parts.hpp"
#include "support/redis_server.hpp"
#include "work.hpp"

namespace holdfast::bench {
namespace {

using boost::asio::awaitable;
using boost::asio::use_awaitable;

awaitable<void> cycles(mutex& lock, std::size_t& left) {
    while (left > 0) {
        --left;
        auto held = co_await lock.async_acquire(use_awaitable);
        if (!held) throw std::runtime_error("an uncontended lock was denied");
        co_await held->async_release(use_awaitable);
    }
}

void rethrow(const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
}

/// `times` cycles, shared by `count` coroutines on one thread, each on a key of its own.
contestant many_coroutines(client& through, std::size_t count, bool fencing) {
    auto locks = std::make_shared<std::deque<mutex>>();
    for (std::size_t n = 0; n < count; ++n) {
        locks->emplace_back(through, "bench:c" + std::to_string(n), how(fencing, true));
    }
    auto name = "holdfast, " + std::to_string(count) + " coroutines" + (fencing ? ", fenced" : "");
    return {std::move(name), [locks](std::size_t times) {
                boost::asio::io_context context(1);
                std::size_t left = times;
                for (auto& lock : *locks) {
                    boost::asio::co_spawn(context, cycles(lock, left), rethrow);
                }
                return timed(1, [&] { context.run(); });
            }};
}

}  // namespace

void coroutines(bool quick, report& out) {
    const test::redis_server server;
    client through(server.url());
    floor hiredis("127.0.0.1", server.port());
    out.contest("coroutines on one thread, distinct keys, one client; no core is pinned; cycles",
                hold_contest({{"hiredis, 64 cycles in one write",
                               [&](std::size_t n) {
                                   return timed(n / 64 + 1, [&] { hiredis.pipelined_cycles(64); });
                               }},
                              many_coroutines(through, 1, false),
                              many_coroutines(through, 64, false),
                              many_coroutines(through, 10'000, false),
                              many_coroutines(through, 10'000, true)},
                             quick ? rules{2, 1000} : rules{7, 10'000}));
}

}  // namespace holdfast::bench
