// Locks for coroutines: many wait, one thread runs them all. usage: coroutine [URL]

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>
#include <iostream>

using namespace std::chrono_literals;
using namespace boost::asio::experimental::awaitable_operators;
using boost::asio::awaitable;
using boost::asio::use_awaitable;

namespace {

constexpr int workers = 4;
constexpr int rounds = 5;

struct account {
    int balance = 0;
};

awaitable<void> pause(std::chrono::milliseconds length) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, length);
    co_await timer.async_wait(use_awaitable);
}

/// Reads, lets the others run, and writes: without the lock updates would be lost.
awaitable<void> deposit(holdfast::mutex& lock, account& shared, int worker) {
    for (int round = 0; round < rounds; ++round) {
        auto lease = co_await lock.async_acquire({.ttl = 10s}, use_awaitable);
        const int before = shared.balance;
        co_await pause(1ms);
        shared.balance = before + 1;
        const auto result = co_await lease->async_release(use_awaitable);
        if (result != holdfast::release_result::released) throw std::runtime_error("not released");
    }
    std::cout << "worker " << worker << " is done\n";
}

/// Waits for a lock that somebody else keeps, but not for ever.
awaitable<bool> give_up_in_time(holdfast::mutex& lock, holdfast::mutex& same_key) {
    const auto kept = co_await lock.async_acquire(use_awaitable);
    const auto won = co_await same_key.async_try_acquire_for(100ms, use_awaitable);
    std::cout << (won ? "took a lock that was held\n" : "gave up after 100 ms\n");
    co_return !won && !kept->lost();
}

awaitable<bool> run(holdfast::client& client) {
    holdfast::mutex lock{client, "example:coroutine"};
    holdfast::mutex same_key{client, "example:coroutine"};
    account shared;
    co_await (deposit(lock, shared, 1) && deposit(lock, shared, 2) &&
              deposit(same_key, shared, 3) && deposit(same_key, shared, 4));
    std::cout << "balance: " << shared.balance << " of " << workers * rounds << '\n';
    const bool in_time = co_await give_up_in_time(lock, same_key);
    co_return in_time&& shared.balance == workers* rounds;
}

}  // namespace

int main(int argc, char** argv) try {
    holdfast::client client{argc > 1 ? argv[1] : "redis://127.0.0.1:6379"};
    client.connect();  // to fail here rather than in every coroutine
    boost::asio::io_context io;
    bool right = false;
    boost::asio::co_spawn(io, run(client), [&](std::exception_ptr failed, bool result) {
        if (failed) std::rethrow_exception(failed);
        right = result;
    });
    io.run();
    return right ? 0 : 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
