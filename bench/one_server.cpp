#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "contest.hpp"
#include "floor.hpp"
#include "holdfast/holdfast.hpp"
#include "parts.hpp"
#include "platform/futex_parker.hpp"
#include "scripts/embedded.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "work.hpp"

namespace holdfast::bench {
namespace {

contestant lock_and_unlock(client& through, std::string name, bool fencing, bool await_release) {
    auto lock = std::make_shared<mutex>(through, "bench:" + name, how(fencing, await_release));
    return {std::move(name), [lock](std::size_t times) {
                return timed(times, [&] { const std::scoped_lock held(*lock); });
            }};
}

/// The answer to a release is read behind that to the next lock.
contestant unawaited_floor(floor& hiredis) {
    hiredis.ask_unlock("bench:u");
    return {"hiredis, release not awaited", [&hiredis](std::size_t times) {
                return timed(times, [&] {
                    hiredis.ask_lock("bench:u");
                    hiredis.read_answer();
                    hiredis.read_answer();
                    hiredis.ask_unlock("bench:u");
                });
            }};
}

void one_thread(const test::redis_server& server, const rules& game, report& out) {
    client through(server.url());
    floor hiredis("127.0.0.1", server.port());
    floor ahead("127.0.0.1", server.port());
    out.contest(
        "one thread, uncontended, one cycle = lock + unlock; without fencing",
        hold_contest(
            {{"hiredis: SET NX PX, release script",
              [&](std::size_t n) { return timed(n, [&] { hiredis.plain_cycle("bench:f"); }); }},
             unawaited_floor(ahead),
             lock_and_unlock(through, "holdfast", false, true),
             lock_and_unlock(through, "holdfast, release not awaited", false, false)},
            game));
    out.contest(
        "the same with fencing tokens",
        hold_contest(
            {{"hiredis: acquire script, release script",
              [&](std::size_t n) { return timed(n, [&] { hiredis.fenced_cycle("bench:g"); }); }},
             lock_and_unlock(through, "holdfast, fenced", true, true),
             lock_and_unlock(through, "holdfast, fenced, release not awaited", true, false)},
            game));
}

/// `times` cycles, shared by `count` threads, each on a key of its own.
contestant many_threads(client& through, std::size_t count, bool await_release) {
    auto name = "holdfast, " + std::to_string(count) + " threads" +
                (await_release ? "" : ", release not awaited");
    return {name, [&through, count, await_release](std::size_t times) {
                std::atomic<std::int64_t> left = static_cast<std::int64_t>(times);
                std::barrier gate(static_cast<std::ptrdiff_t>(count) + 1);
                std::vector<std::jthread> threads;
                for (std::size_t n = 0; n < count; ++n) {
                    threads.emplace_back([&, n] {
                        mutex mine(through, "bench:t" + std::to_string(n),
                                   how(false, await_release));
                        gate.arrive_and_wait();
                        while (left.fetch_sub(1) > 0) const std::scoped_lock held(mine);
                    });
                }
                gate.arrive_and_wait();
                const auto begin = clock::now();
                threads.clear();
                return clock::now() - begin;
            }};
}

/// Requests per second of one command, `__rand_int__` in it being one of so many numbers.
double redis_benchmark(const test::redis_server& server, std::size_t requests, std::size_t numbers,
                       const std::vector<std::string>& command) {
    std::vector<std::string> arguments{"redis-benchmark",
                                       "-p",
                                       std::to_string(server.port()),
                                       "-P",
                                       "64",
                                       "-c",
                                       "1",
                                       "-n",
                                       std::to_string(requests),
                                       "-r",
                                       std::to_string(numbers),
                                       "--csv"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const auto done = test::run_command(arguments);
    const auto line = done.out.rfind("\n\"");
    const auto field = done.out.find("\",\"", line == std::string::npos ? 0 : line);
    const auto found =
        field == std::string::npos ? 0 : std::strtod(done.out.c_str() + field + 3, nullptr);
    if (found <= 0) throw std::runtime_error("redis-benchmark says no speed: " + done.err);
    return found;
}

/// The same two commands at redis-benchmark's pipelined speed, as one cycle. It knows no order of
/// commands, so each has its own run: SET NX finds no key, as a lock does, and the release finds
/// its key, as a lock's does, four times of five: of twice as many keys as requests, drawn by
/// chance, one of five was drawn before. The table of keys has grown by then, and does not while
/// SET runs. A lock's few keys are nearer to the processor than these; a floor that has the same
/// keys is "hiredis, 64 cycles in one write".
contestant pipelined_floor(const test::redis_server& server, floor& hiredis) {
    return {
        "redis-benchmark -P 64: SET NX PX, release script", [&server, &hiredis](std::size_t times) {
            hiredis.clear();
            hiredis.fill(2 * times);
            const auto set =
                redis_benchmark(server, times, 100'000'000,
                                {"SET", "rb:__rand_int__", hiredis.owner(), "NX", "PX", "30000"});
            const auto release =
                redis_benchmark(server, times, 2 * times,
                                {"EVALSHA", std::string(scripts::exclusive::release.sha1), "1",
                                 "rb:__rand_int__", hiredis.owner()});
            hiredis.clear();
            const auto count = static_cast<double>(times);
            return std::chrono::duration_cast<nanoseconds>(
                std::chrono::duration<double>(count / set + count / release));
        }};
}

/// What threads cost that are put to sleep and woken, once for a lock and once for its release.
/// They do nothing else, and no server is asked. Callers of Holdfast mostly let others run instead.
contestant only_waking(std::size_t count) {
    return {"no server: waking 64 threads, twice for a cycle", [count](std::size_t times) {
                const auto mine = platform::futex_parker::of_this_thread();
                std::vector<std::shared_ptr<platform::futex_parker>> parkers(count);
                std::atomic<std::size_t> awake = 0;
                std::atomic<bool> over = false;
                std::barrier gate(static_cast<std::ptrdiff_t>(count) + 1);
                std::vector<std::jthread> threads;
                for (std::size_t n = 0; n < count; ++n) {
                    threads.emplace_back([&, n] {
                        parkers[n] = platform::futex_parker::of_this_thread();
                        gate.arrive_and_wait();
                        while (parkers[n]->park_until(core::never) && !over) {
                            if (awake.fetch_add(1) + 1 == count) mine->unpark();
                        }
                    });
                }
                gate.arrive_and_wait();
                const auto begin = clock::now();
                for (std::size_t round = 0; round < 2 * times / count; ++round) {
                    awake = 0;
                    platform::futex_parker::unpark_all(parkers);
                    mine->park_until(core::never);
                }
                const nanoseconds taken = clock::now() - begin;
                over = true;
                platform::futex_parker::unpark_all(parkers);
                return taken;
            }};
}

void throughput(const test::redis_server& server, const rules& game, report& out) {
    client through(server.url());
    floor hiredis("127.0.0.1", server.port());
    out.contest("64 threads, distinct keys, one client; cycles",
                hold_contest({pipelined_floor(server, hiredis),
                              {"hiredis, 64 cycles in one write",
                               [&](std::size_t n) {
                                   return timed(n / 64 + 1, [&] { hiredis.pipelined_cycles(64); });
                               }},
                              only_waking(64),
                              many_threads(through, 64, true),
                              many_threads(through, 64, false)},
                             game));
}

}  // namespace

void one_server(bool quick, report& out) {
    pin_to_core(0);
    const test::redis_server server;
    std::printf("client and server on core 0\n");
    one_thread(server, quick ? rules{2, 200} : rules{21, 3000}, out);
    throughput(server, quick ? rules{2, 2000} : rules{9, 40000}, out);
}

}  // namespace holdfast::bench
