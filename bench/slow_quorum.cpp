#include <cstdio>
#include <memory>

#include "contest.hpp"
#include "floor.hpp"
#include "holdfast/holdfast.hpp"
#include "parts.hpp"
#include "servers.hpp"
#include "work.hpp"

namespace holdfast::bench {
namespace {

constexpr std::size_t nodes = 5;
constexpr std::chrono::milliseconds added{1};

/// Locks and unlocks; only what lies between the two looks at the clock counts.
template <typename Before, typename Timed, typename After>
nanoseconds timed_part(std::size_t times, Before&& before, Timed&& work, After&& after) {
    nanoseconds sum{0};
    for (std::size_t n = 0; n < times; ++n) {
        before();
        sum += timed(1, work);
        after();
    }
    return sum;
}

contestant acquire(client& through, std::string name, bool fencing) {
    auto lock = std::make_shared<mutex>(through, "bench:" + name, how(fencing, true));
    return {std::move(name), [lock](std::size_t times) {
                return timed_part(
                    times, [] {}, [&] { lock->lock(); }, [&] { lock->unlock(); });
            }};
}

contestant release(client& through, std::string name, bool awaited) {
    auto lock = std::make_shared<mutex>(through, "bench:" + name, how(true, awaited));
    return {std::move(name), [lock](std::size_t times) {
                return timed_part(
                    times, [&] { lock->lock(); }, [&] { lock->unlock(); }, [] {});
            }};
}

/// Connects while all is well; then the last node hears and says nothing. Returns what the first
/// acquire after that took, which is the one that may notice.
nanoseconds lose_a_node(client& through, slow_network& network) {
    mutex lock(through, "bench:outage", how(true, true));
    lock.lock();
    lock.unlock();
    network.link(nodes - 1).silence();
    const auto taken = timed(1, [&] { lock.lock(); });
    lock.unlock();
    return taken;
}

}  // namespace

void slow_quorum(bool quick, report& out) {
    const server_set servers(nodes);
    slow_network sound(servers, added);
    slow_network wounded(servers, added);
    client whole(sound.urls());
    client without_one(wounded.urls());
    floor round_trip("127.0.0.1", sound.link(0).port());

    const auto first = lose_a_node(without_one, wounded);
    std::printf(
        "five servers, %lld ms added to every round trip; no core is pinned\n"
        "the first acquire after a node fell silent: %.2f ms\n",
        static_cast<long long>(added.count()),
        std::chrono::duration<double, std::milli>(first).count());
    out.keep("the first acquire after a node fell silent",
             {{"holdfast", std::chrono::duration<double, std::milli>(first).count(), "ms"}});
    out.contest(
        "one operation",
        hold_contest(
            {{"hiredis: one round trip to one server",
              [&](std::size_t n) { return timed(n, [&] { round_trip.round_trip("bench:r"); }); }},
             acquire(whole, "holdfast: acquire", true),
             acquire(whole, "holdfast: acquire without fencing", false),
             acquire(without_one, "holdfast: acquire, one node silent", true),
             release(whole, "holdfast: release", true),
             release(whole, "holdfast: release, not awaited", false),
             release(without_one, "holdfast: release, not awaited, one node silent", false)},
            quick ? rules{2, 10} : rules{15, 200}));
}

}  // namespace holdfast::bench
