#include <algorithm>
#include <barrier>
#include <cstdio>
#include <deque>
#include <thread>

#include "holdfast/holdfast.hpp"
#include "parts.hpp"
#include "servers.hpp"
#include "work.hpp"

namespace holdfast::bench {
namespace {

/// Each contender has a client of its own, as another process would: nothing is decided locally.
class crowd {
  public:
    crowd(const server_set& servers, std::size_t size) {
        for (std::size_t n = 0; n < size; ++n) clients_.emplace_back(servers.urls()).connect();
    }

    /// All start at the same moment, and each takes the lock once and gives it back.
    nanoseconds until_all_had_it() {
        std::barrier gate(static_cast<std::ptrdiff_t>(clients_.size()) + 1);
        std::vector<std::jthread> threads;
        for (auto& through : clients_) {
            threads.emplace_back([&gate, &through] {
                mutex lock(through, "bench:votes", how(true, true));
                gate.arrive_and_wait();
                lock.lock();
                lock.unlock();
            });
        }
        gate.arrive_and_wait();
        return timed(1, [&] { threads.clear(); });
    }

  private:
    std::deque<client> clients_;
};

struct times {
    double median;
    double worst;
};

times in_milliseconds(std::vector<nanoseconds> taken) {
    std::sort(taken.begin(), taken.end());
    const auto read = [](nanoseconds time) {
        return std::chrono::duration<double, std::milli>(time).count();
    };
    return {read(taken[taken.size() / 2]), read(taken.back())};
}

}  // namespace

void split_votes(bool quick, report& out) {
    const server_set one(1);
    const server_set five(5);
    const int rounds = quick ? 2 : 21;
    std::printf("\nuntil all contenders had the lock once: milliseconds over %d rounds\n", rounds);
    std::printf("%-12s %12s %10s %12s %10s %8s\n", "contenders", "five: median", "worst",
                "one: median", "worst", "ratio");
    std::vector<figure> figures;
    for (const std::size_t size : {2U, 3U, 8U, 32U}) {
        crowd on_five(five, size);
        crowd on_one(one, size);
        std::vector<nanoseconds> with_five;
        std::vector<nanoseconds> with_one;
        for (int round = 0; round < rounds; ++round) {
            with_five.push_back(on_five.until_all_had_it());
            with_one.push_back(on_one.until_all_had_it());
        }
        const auto quorum = in_milliseconds(std::move(with_five));
        const auto single = in_milliseconds(std::move(with_one));
        std::printf("%-12zu %12.2f %10.2f %12.2f %10.2f %8.1f\n", size, quorum.median, quorum.worst,
                    single.median, single.worst, quorum.median / single.median);
        const auto who = std::to_string(size) + " contenders, ";
        figures.push_back({who + "one server", single.median, "ms", {}, 1.0, 1.0});
        const auto ratio = quorum.median / single.median;
        figures.push_back({who + "five servers", quorum.median, "ms", {}, ratio, 1.0});
    }
    out.keep("until all contenders had the lock once", std::move(figures));
}

}  // namespace holdfast::bench
