#include <algorithm>
#include <cstdio>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>

#include "contest.hpp"
#include "floor.hpp"
#include "holdfast/holdfast.hpp"
#include "holdfast/operate.hpp"
#include "parts.hpp"
#include "support/fault_proxy.hpp"
#include "support/replication_group.hpp"
#include "support/sentinel_group.hpp"
#include "work.hpp"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using steady = std::chrono::steady_clock;

constexpr milliseconds away{1};
constexpr milliseconds max_ttl{2000};
/// For how long a server that was promoted is asked for no votes: options::max_ttl, and what clocks
/// may differ by.
constexpr milliseconds quarantine = max_ttl + 22ms;

double in_ms(std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

options acknowledged(const std::string& url, std::size_t by) {
    options settings;
    settings.urls = {url};
    settings.replica_acks = replicas::exactly(by);
    return settings;
}

void vouch(const options& settings) {
    client operators(settings);
    (void)enlist(operators, true);
}

/// Only the acquire is timed.
contestant acquire(client& through, std::string name, bool fencing) {
    auto lock = std::make_shared<mutex>(through, "bench:" + name, how(fencing, true));
    return {std::move(name), [lock](std::size_t times) {
                nanoseconds sum{0};
                for (std::size_t n = 0; n < times; ++n) {
                    sum += timed(1, [&] { lock->lock(); });
                    lock->unlock();
                }
                return sum;
            }};
}

/// What a lock costs that a replica knows, beside a write that one knows. Sentinels are not asked
/// for it, and so are not there.
void acquire_far_away(bool quick, report& out) {
    test::replication_group group(2);
    test::fault_proxy network(group.master().port());
    vouch(acknowledged(group.master().url(), 1));
    network.delay(test::direction::to_server, away);
    client known(acknowledged(network.url(), 1));
    client unknown(network.url());
    floor hiredis("127.0.0.1", network.port());
    std::printf("a master with two replicas, %lld ms away; no core is pinned\n",
                static_cast<long long>(away.count()));
    out.contest(
        "one acquire that a replica knows",
        hold_contest(
            {{"hiredis: a write, to the replica and back (SET, WAIT)",
              [&](std::size_t n) { return timed(n, [&] { hiredis.replicated("bench:r"); }); }},
             {"hiredis: a write (SET)",
              [&](std::size_t n) { return timed(n, [&] { hiredis.round_trip("bench:r"); }); }},
             acquire(known, "holdfast: acquire, acknowledged", true),
             acquire(known, "holdfast: acquire, acknowledged, without fencing", false),
             acquire(unknown, "holdfast: acquire, not acknowledged", true)},
            quick ? rules{2, 10} : rules{15, 200}));
}

struct fail_over {
    milliseconds named{};    // since the kill, until a Sentinel named another
    milliseconds granted{};  // since the kill, until the next lock
};

milliseconds since(steady::time_point begin) {
    return std::chrono::duration_cast<milliseconds>(steady::now() - begin);
}

bool any_names_another(const test::sentinel_group& group, std::size_t than) {
    for (std::size_t n = 0; n < group.sentinels(); ++n) {
        if (group.named_by(n) != than) return true;
    }
    return false;
}

fail_over kill_the_master(test::sentinel_group& group, client& through) {
    const std::size_t master = group.master();
    { const auto before = through.acquire("bench:fail-over", {.ttl = 1s}); }
    const auto begin = steady::now();
    group.server(master).kill_hard();
    auto waits = std::async(std::launch::async, [&] {
        const auto next = through.acquire("bench:fail-over", {.ttl = 1s});
        return since(begin);
    });
    while (!any_names_another(group, master)) {
        if (since(begin) > 60s) throw std::runtime_error("no Sentinel names another master");
        std::this_thread::sleep_for(2ms);
    }
    const fail_over found{.named = since(begin), .granted = waits.get()};
    group.server(master).start();
    group.wait_until_whole();
    return found;
}

/// From the death of a master to the next lock.
void fail_overs(bool quick, report& out) {
    test::sentinel_group group;
    options settings;
    settings.urls = {group.url()};
    settings.max_ttl = max_ttl;
    settings.patience = 60s;
    vouch(settings);
    client through(settings);
    std::vector<milliseconds> above;
    std::printf(
        "a master, two replicas, three Sentinels (down-after 500 ms); quarantine %lld ms\n"
        "  named after   granted after   above both\n",
        static_cast<long long>(quarantine.count()));
    for (int n = 0; n < (quick ? 1 : 7); ++n) {
        const auto [named, granted] = kill_the_master(group, through);
        above.push_back(granted - named - quarantine);
        std::printf("  %8lld ms   %10lld ms   %7lld ms\n", static_cast<long long>(named.count()),
                    static_cast<long long>(granted.count()),
                    static_cast<long long>(above.back().count()));
    }
    std::sort(above.begin(), above.end());
    const auto median = above[above.size() / 2];
    std::printf("  above both: median %lld ms, worst %lld ms\n",
                static_cast<long long>(median.count()),
                static_cast<long long>(above.back().count()));
    out.keep("fail-over: the next lock, above the Sentinels' time and the quarantine",
             {{"holdfast: median", in_ms(median), "ms"},
              {"holdfast: worst", in_ms(above.back()), "ms"}});
}

}  // namespace

void replication(bool quick, report& out) {
    acquire_far_away(quick, out);
    fail_overs(quick, out);
}

}  // namespace holdfast::bench
