#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "parts.hpp"
#include "support/redis_server.hpp"
#include "work.hpp"

namespace holdfast::bench {
namespace {

using seconds = std::chrono::duration<double>;

/// Of this process.
double resident_bytes() {
    std::ifstream file("/proc/self/statm");
    double all = 0;
    double resident = 0;
    file >> all >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double processor_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto read = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return read(used.ru_utime) + read(used.ru_stime);
}

std::vector<lease> take(client& through, std::size_t count, const acquire_options& options) {
    std::vector<lease> held;
    held.reserve(count);
    for (std::size_t n = 0; n < count; ++n) {
        held.push_back(through.acquire("bench:held:" + std::to_string(n), options));
    }
    return held;
}

struct renewals {
    double per_second;
    double share_of_core;
};

/// Watches the renewals of `length`, which is a whole number of times that all are renewed.
renewals watch_renewals(const client& through, std::chrono::milliseconds length) {
    const auto renewed = through.statistics().renewed;
    const auto used = processor_seconds();
    std::this_thread::sleep_for(length);
    const auto share = (processor_seconds() - used) / seconds(length).count();
    const auto count = static_cast<double>(through.statistics().renewed - renewed);
    return {count / seconds(length).count(), share};
}

void show(const std::vector<figure>& figures) {
    for (const auto& each : figures) {
        std::printf("%-52s %12.2f %s\n", each.name.c_str(), each.value, each.unit.c_str());
    }
}

}  // namespace

void held_leases(bool quick, report& out) {
    const test::redis_server server;
    client through(server.url());
    through.connect();
    acquire_options options;
    options.await_release = false;
    options.ttl = std::chrono::seconds(quick ? 3 : 30);
    const std::size_t count = quick ? 1000 : 100'000;

    const auto memory = resident_bytes();
    std::vector<lease> held;
    const auto taking = timed(1, [&] { held = take(through, count, options); });
    const auto each = (resident_bytes() - memory) / static_cast<double>(count);
    const auto renewed = watch_renewals(through, options.ttl / 3);
    const auto releasing = timed(1, [&] {
        held.clear();
        // In line behind all of them: its answer is the last.
        (void)through.acquire("bench:barrier", how(true, true));
    });
    const std::vector<figure> figures{
        {"memory of this process, each", each, "bytes"},
        {"renewals", renewed.per_second, "per second"},
        {"renewals, share of a core", 100 * renewed.share_of_core, "%"},
        {"taking all, by one thread", seconds(taking).count(), "s"},
        {"releasing all, until the server had done it", seconds(releasing).count(), "s"}};
    const auto title = std::to_string(count) + " leases held by one client, ttl " +
                       std::to_string(options.ttl.count() / 1000) + " s";
    std::printf("\n%s\n", title.c_str());
    show(figures);
    out.keep(title, figures);
    if (server.exists("bench:held:0")) std::puts("but a key is left: the numbers are wrong");
}

}  // namespace holdfast::bench
