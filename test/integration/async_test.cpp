#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <stop_token>
#include <thread>

#include "holdfast/asio.hpp"
#include "integration/library.hpp"

namespace holdfast::test {
namespace {

namespace asio = boost::asio;

std::error_code code_of(const std::exception_ptr& error) {
    if (!error) return {};
    return error_of([&] { std::rethrow_exception(error); }).code;
}

class asynchronous : public testing::Test {
  protected:
    /// Runs the executor until it has nothing left to do; false if that takes too long.
    bool run() {
        io_.restart();
        const auto until = std::chrono::steady_clock::now() + surely;
        while (!io_.stopped() && std::chrono::steady_clock::now() < until) io_.run_one_until(until);
        return io_.stopped();
    }

    redis_server server_;
    client client_{server_.url()};
    client other_{server_.url()};
    asio::io_context io_;
};

TEST_F(asynchronous, a_callback_gets_the_lease_on_its_own_executor) {
    mutex one(client_, "k");
    std::optional<lease> held;
    std::thread::id where;
    one.async_acquire(
        {}, asio::bind_executor(io_, [&](const std::exception_ptr& error, acquisition won) {
            EXPECT_FALSE(error);
            where = std::this_thread::get_id();
            held.emplace(std::move(*won));
        }));
    EXPECT_FALSE(held.has_value()) << "completed inside the initiating call";
    ASSERT_TRUE(run());
    ASSERT_TRUE(held.has_value());
    EXPECT_EQ(where, std::this_thread::get_id());
    EXPECT_EQ(server_.get("k"), held->owner());
}

TEST_F(asynchronous, a_callback_gets_the_results_of_release_and_renewal) {
    auto held = mutex(client_, "k", with_ttl(2s)).acquire();
    std::error_code renewed = errc::unreachable;
    held.async_renew(20s, asio::bind_executor(io_, [&](const std::exception_ptr& error) {
                         renewed = code_of(error);
                     }));
    ASSERT_TRUE(run());
    EXPECT_FALSE(renewed);
    EXPECT_GT(server_.pttl("k"), 15'000);
    EXPECT_GT(held.remaining(), 15s);
    std::optional<release_result> result;
    held.async_release(
        asio::bind_executor(io_, [&](const std::exception_ptr& error, release_result how) {
            EXPECT_FALSE(error);
            result = how;
        }));
    ASSERT_TRUE(run());
    EXPECT_EQ(result, release_result::released);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(asynchronous, a_future_waits_for_the_lock) {
    auto theirs = mutex(other_, "k").acquire();
    mutex one(client_, "k");
    auto future = one.async_acquire({}, asio::use_future);
    EXPECT_EQ(future.wait_for(50ms), std::future_status::timeout);
    const stopwatch watch;
    theirs.release();
    const auto mine = future.get();
    EXPECT_LT(watch.elapsed(), promptly);
    ASSERT_TRUE(mine);
    EXPECT_EQ(server_.get("k"), mine->owner());
}

TEST_F(asynchronous, coroutines_can_take_renew_and_release) {
    mutex one(client_, "k");
    int steps = 0;
    const auto work = [&]() -> asio::awaitable<void> {
        auto won = co_await one.async_acquire(with_ttl(2s), asio::use_awaitable);
        ++steps;
        co_await won->async_renew(10s, asio::use_awaitable);
        ++steps;
        const auto how = co_await won->async_release(asio::use_awaitable);
        EXPECT_EQ(how, release_result::released);
        ++steps;
    };
    asio::co_spawn(io_, work, asio::detached);
    ASSERT_TRUE(run());
    EXPECT_EQ(steps, 3);
}

// Braces inside a co_await expression are what GCC 12 miscompiles: see holdfast/label.hpp.
TEST_F(asynchronous, options_may_be_written_inside_a_co_await_expression) {
    mutex one(client_, "k");
    const std::string name = "a name that no small string has room for";
    std::vector<std::string> labels;
    const auto note = [&](const acquisition& won) {
        labels.push_back(parse_owner(won->owner()).label);
        EXPECT_GT(server_.pttl("k"), 35'000);
    };
    const auto work = [&]() -> asio::awaitable<void> {
        for (int round = 0; round < 2; ++round) {
            note(co_await one.async_acquire({.ttl = 40s}, asio::use_awaitable));
            note(co_await one.async_acquire({.ttl = 40s, .label = "short"}, asio::use_awaitable));
            note(
                co_await one.async_acquire({.ttl = 40s, .label = name + "!"}, asio::use_awaitable));
            note(co_await one.async_acquire(acquire_options{.ttl = 40s, .label = name},
                                            asio::use_awaitable));
            note(co_await mutex(client_, "k", {.ttl = 40s}).async_acquire(asio::use_awaitable));
        }
        co_await one.async_acquire({}, asio::use_awaitable);
    };
    asio::co_spawn(io_, work, [](const std::exception_ptr& error) { EXPECT_FALSE(error); });
    ASSERT_TRUE(run());
    const std::vector<std::string> once{"", "short", name + "!", name, ""};
    auto expected = once;
    expected.insert(expected.end(), once.begin(), once.end());
    EXPECT_EQ(labels, expected);
}

TEST_F(asynchronous, many_coroutines_on_several_threads_never_overlap) {
    asio::thread_pool pool(3);
    std::atomic<int> inside = 0;
    std::atomic<int> done = 0;
    mutex one(client_, "k");
    const auto work = [&]() -> asio::awaitable<void> {
        for (int round = 0; round < 10; ++round) {
            auto won = co_await one.async_acquire(asio::use_awaitable);
            EXPECT_EQ(++inside, 1);
            --inside;
            ++done;
            co_await won->async_release(asio::use_awaitable);
        }
    };
    for (int n = 0; n < 20; ++n) asio::co_spawn(pool, work, asio::detached);
    pool.join();
    EXPECT_EQ(done, 200);
}

TEST_F(asynchronous, failures_are_thrown_into_the_coroutine) {
    client nowhere(settings_for("redis://127.0.0.1:1"));
    auto settings = settings_for("redis://127.0.0.1:1");
    settings.patience = 0ms;
    client impatient(settings);
    mutex one(impatient, "k");
    std::error_code code;
    const auto work = [&]() -> asio::awaitable<void> {
        try {
            co_await one.async_acquire(asio::use_awaitable);
        } catch (const std::system_error& thrown) {
            code = thrown.code();
        }
    };
    asio::co_spawn(io_, work, asio::detached);
    ASSERT_TRUE(run());
    EXPECT_EQ(code, errc::unreachable);
}

TEST_F(asynchronous, what_is_wrong_with_the_call_completes_it_too) {
    mutex one(client_, "k");
    std::error_code code;
    one.async_acquire(with_ttl(1ms),
                      asio::bind_executor(io_, [&](const std::exception_ptr& error, acquisition) {
                          code = code_of(error);
                      }));
    EXPECT_FALSE(code) << "completed inside the initiating call";
    ASSERT_TRUE(run());
    EXPECT_EQ(code, errc::invalid_option);
}

TEST_F(asynchronous, a_default_ttl_above_max_ttl_completes_only_what_uses_it) {
    auto settings = settings_for(server_.url());
    settings.max_ttl = 10s;
    client strict(settings);
    mutex one(strict, "k");
    EXPECT_TRUE(one.async_acquire({.ttl = 10s}, asio::use_future).get());
    const auto refused = error_of([&] { (void)one.async_acquire(asio::use_future).get(); });
    EXPECT_EQ(refused.code, errc::invalid_option);
}

TEST_F(asynchronous, cancelling_a_waiting_acquire_completes_it_and_lets_others_through) {
    auto theirs = mutex(other_, "k").acquire();
    asio::cancellation_signal signal;
    mutex one(client_, "k");
    std::error_code code;
    one.async_acquire(
        {}, asio::bind_cancellation_slot(
                signal.slot(),
                asio::bind_executor(io_, [&](const std::exception_ptr& error, acquisition won) {
                    code = code_of(error);
                    EXPECT_FALSE(won);
                })));
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().denied > 0; }));
    signal.emit(asio::cancellation_type::terminal);
    const stopwatch watch;
    ASSERT_TRUE(run());
    EXPECT_LT(watch.elapsed(), promptly);
    EXPECT_EQ(code, errc::cancelled);
    theirs.release();
    EXPECT_TRUE(mutex(other_, "k").try_acquire());
}

TEST_F(asynchronous, a_cancelled_acquire_leaves_nothing_at_the_server) {
    mutex one(client_, "k");
    for (int round = 0; round < 20; ++round) {
        asio::cancellation_signal signal;
        std::optional<std::error_code> code;
        std::optional<lease> held;
        one.async_acquire(
            {}, asio::bind_cancellation_slot(
                    signal.slot(),
                    asio::bind_executor(io_, [&](const std::exception_ptr& error, acquisition won) {
                        code = code_of(error);
                        if (won) held.emplace(std::move(*won));
                    })));
        signal.emit(asio::cancellation_type::all);  // the request is probably under way
        ASSERT_TRUE(run());
        ASSERT_TRUE(code.has_value());
        EXPECT_EQ(held.has_value(), !*code);
        if (held) continue;
        EXPECT_EQ(*code, errc::cancelled);
        EXPECT_TRUE(eventually(promptly, [&] { return !server_.exists("k"); }));
    }
}

TEST_F(asynchronous, a_timeout_is_a_race_with_a_timer) {
    using namespace asio::experimental::awaitable_operators;
    const auto theirs = mutex(other_, "k").acquire();
    mutex one(client_, "k");
    std::size_t first = 9;
    const auto work = [&]() -> asio::awaitable<void> {
        asio::steady_timer timer(io_, 50ms);
        const auto winner = co_await (one.async_acquire(asio::use_awaitable) ||
                                      timer.async_wait(asio::use_awaitable));
        first = winner.index();
    };
    asio::co_spawn(io_, work, asio::detached);
    ASSERT_TRUE(run());
    EXPECT_EQ(first, 1U);
}

TEST_F(asynchronous, a_timed_acquire_gives_up_in_time_and_tells_who_holds_the_lock) {
    const auto theirs = mutex(other_, "k").acquire();
    mutex one(client_, "k");
    const auto expect_denied = [&](const acquisition& result, const stopwatch& watch) {
        EXPECT_FALSE(result);
        EXPECT_GE(watch.elapsed(), 45ms);
        EXPECT_LT(watch.elapsed(), 50ms + promptly);
        EXPECT_EQ(result.held_by().value_or(holder{}).owner, theirs.owner());
    };
    const stopwatch first;
    expect_denied(one.async_try_acquire_for(50ms, asio::use_future).get(), first);
    const stopwatch second;
    expect_denied(one.async_try_acquire_for(50ms, {.ttl = 5s}, asio::use_future).get(), second);
    const stopwatch third;
    const auto steady = std::chrono::steady_clock::now() + 50ms;
    expect_denied(one.async_try_acquire_until(steady, asio::use_future).get(), third);
    const stopwatch fourth;
    const auto ours = clock::now() + 50ms;
    expect_denied(one.async_try_acquire_until(ours, {.ttl = 5s}, asio::use_future).get(), fourth);
}

TEST_F(asynchronous, a_timed_acquire_gets_a_lock_that_becomes_free_in_time) {
    auto theirs = mutex(other_, "k").acquire();
    mutex one(client_, "k");
    std::optional<std::string> owner;
    const auto work = [&]() -> asio::awaitable<void> {
        const auto won =
            co_await one.async_try_acquire_for(surely, {.ttl = 40s}, asio::use_awaitable);
        if (!won) co_return;
        EXPECT_GT(server_.pttl("k"), 35'000);
        EXPECT_EQ(server_.get("k"), won->owner());
        owner = won->owner();
    };
    asio::co_spawn(io_, work, asio::detached);
    io_.poll();
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().denied > 0; }));
    theirs.release();
    ASSERT_TRUE(run());
    EXPECT_TRUE(owner.has_value());
}

TEST_F(asynchronous, a_timed_acquire_without_time_makes_one_attempt) {
    mutex one(client_, "k");
    EXPECT_TRUE(one.async_try_acquire_for(0ms, asio::use_future).get());
    EXPECT_TRUE(one.async_try_acquire_for(-1h, asio::use_future).get());
    const auto past = clock::now() - 1h;
    EXPECT_TRUE(one.async_try_acquire_until(past, asio::use_future).get());
    const auto theirs = mutex(other_, "k").acquire();
    const auto denied = one.async_try_acquire_for(0ms, asio::use_future).get();
    EXPECT_EQ(denied.held_by().value_or(holder{}).owner, theirs.owner());
    EXPECT_FALSE(one.async_try_acquire_until(past, asio::use_future).get());
}

TEST_F(asynchronous, the_time_of_a_timed_acquire_runs_from_its_start_not_from_the_call) {
    const auto theirs = mutex(other_, "k").acquire();
    mutex one(client_, "k");
    milliseconds waited{0};
    const auto work = [&]() -> asio::awaitable<void> {
        auto later = one.async_try_acquire_for(60ms, asio::use_awaitable);
        std::this_thread::sleep_for(60ms);
        const stopwatch watch;
        EXPECT_FALSE(co_await std::move(later));
        waited = watch.elapsed();
    };
    asio::co_spawn(io_, work, asio::detached);
    ASSERT_TRUE(run());
    EXPECT_GE(waited, 60ms);
}

TEST_F(asynchronous, cancelling_a_timed_acquire_completes_it_before_its_time) {
    const auto theirs = mutex(other_, "k").acquire();
    asio::cancellation_signal signal;
    mutex one(client_, "k");
    std::error_code code;
    const auto done = [&](const std::exception_ptr& error, const acquisition& won) {
        code = code_of(error);
        EXPECT_FALSE(won);
    };
    one.async_try_acquire_for(
        surely, asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(io_, done)));
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().denied > 0; }));
    signal.emit(asio::cancellation_type::terminal);
    const stopwatch watch;
    ASSERT_TRUE(run());
    EXPECT_LT(watch.elapsed(), promptly);
    EXPECT_EQ(code, errc::cancelled);
}

TEST_F(asynchronous, cancelling_after_completion_does_nothing) {
    asio::cancellation_signal signal;
    mutex one(client_, "k");
    std::optional<lease> held;
    one.async_acquire({}, asio::bind_cancellation_slot(
                              signal.slot(), asio::bind_executor(io_, [&](const std::exception_ptr&,
                                                                          acquisition won) {
                                  held.emplace(std::move(*won));
                              })));
    ASSERT_TRUE(run());
    signal.emit(asio::cancellation_type::all);
    EXPECT_FALSE(held->lost());
    EXPECT_TRUE(held->verify());
}

TEST_F(asynchronous, the_deadline_of_a_request_holds_while_another_operation_waits) {
    auto settings = settings_for(server_.url());
    settings.patience = 0ms;
    settings.node_timeout = 200ms;
    client impatient(settings);
    const auto theirs = mutex(other_, "busy").acquire();
    mutex busy(impatient, "busy");
    mutex idle(impatient, "idle");
    auto waits = busy.async_acquire({}, asio::use_future);
    EXPECT_TRUE(eventually(surely, [&] { return impatient.statistics().denied > 0; }));
    EXPECT_EQ(waits.wait_for(50ms), std::future_status::timeout);  // asleep until it is told
    server_.pause();
    const stopwatch watch;
    auto unanswered = idle.async_acquire({}, asio::use_future);
    EXPECT_EQ(error_of([&] { unanswered.get(); }).code, errc::unreachable);
    EXPECT_GE(watch.elapsed(), 200ms);
    EXPECT_LT(watch.elapsed(), 200ms + promptly);
    server_.resume();
}

TEST_F(asynchronous, a_client_that_is_destroyed_completes_what_is_under_way) {
    const auto theirs = mutex(other_, "k").acquire();
    std::optional<client> doomed(std::in_place, server_.url());
    mutex one(*doomed, "k");
    std::error_code code;
    one.async_acquire({}, asio::bind_executor(io_, [&](const std::exception_ptr& error,
                                                       acquisition) { code = code_of(error); }));
    EXPECT_TRUE(eventually(surely, [&] { return doomed->statistics().denied > 0; }));
    doomed.reset();
    ASSERT_TRUE(run());
    EXPECT_EQ(code, errc::closed);
}

TEST_F(asynchronous, operations_on_a_client_that_is_gone_complete_with_closed) {
    std::optional<client> doomed(std::in_place, server_.url());
    mutex one(*doomed, "k");
    auto held = mutex(*doomed, "other").acquire();
    doomed.reset();
    int completed = 0;
    const auto expect_closed = [&](const std::exception_ptr& error, auto&&...) {
        EXPECT_EQ(code_of(error), errc::closed);
        ++completed;
    };
    one.async_acquire({}, asio::bind_executor(io_, expect_closed));
    held.async_renew(10s, asio::bind_executor(io_, expect_closed));
    held.async_release(asio::bind_executor(io_, expect_closed));
    ASSERT_TRUE(run());
    EXPECT_EQ(completed, 3);
}

// However far apart they were acquired: the thread that renews is held up until all are due.
TEST_F(asynchronous, many_leases_that_are_due_are_renewed_in_few_writes) {
    constexpr int leases = 100;
    constexpr auto ttl = 6s;
    const auto victim = mutex(client_, "victim", with_ttl(300ms * slowness)).acquire();
    std::promise<void> held_up;
    std::promise<void> go_on;
    const std::stop_callback hold_up(victim.stop_token(), [&] {
        held_up.set_value();
        go_on.get_future().wait();
    });
    std::vector<std::future<acquisition>> futures;
    for (int n = 0; n < leases; ++n) {
        mutex one(client_, "key:" + std::to_string(n));
        futures.push_back(one.async_acquire(with_ttl(ttl), asio::use_future));
    }
    std::vector<acquisition> held;
    for (auto& future : futures) held.push_back(future.get());
    const auto all_due_at = std::chrono::steady_clock::now() + ttl / 3;
    server_.command({"DEL", "victim"});
    ASSERT_EQ(held_up.get_future().wait_for(surely), std::future_status::ready);
    std::this_thread::sleep_until(all_due_at);
    const auto reads = [&] {
        const auto stats = server_.command({"INFO", "stats"});
        return std::stoll(stats.substr(stats.find("total_reads_processed:") + 22));
    };
    const auto before = reads();
    go_on.set_value();
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().renewed >= leases; }));
    const auto used = reads() - before;
    RecordProperty("reads_for_100_renewals", static_cast<int>(used));
    EXPECT_LT(used, leases / 5);
    for (const auto& one : held) EXPECT_FALSE(one->lost());
}

}  // namespace
}  // namespace holdfast::test
