#include "crowd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <stdexcept>
#include <thread>

namespace holdfast::bench {
namespace {

using clock = std::chrono::steady_clock;

double microseconds(nanoseconds time) {
    return std::chrono::duration<double, std::micro>(time).count();
}

template <typename Items, typename Write>
std::string joined(const Items& items, Write&& write) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ", ") + write(item);
    return text;
}

}  // namespace

crowd::crowd(const std::string& last, nanoseconds critical)
    : last_(last.empty() ? -1 : ::open(last.c_str(), O_RDWR | O_CLOEXEC)), critical_(critical) {
    if (!last.empty() && last_ < 0) throw std::runtime_error("cannot open " + last);
}

crowd::~crowd() {
    if (last_ >= 0) ::close(last_);
}

/// Whether the lock was another's before. The file is read and written by one holder at a time.
bool crowd::take_over(std::size_t worker) const {
    const auto own = static_cast<std::uint64_t>(::getpid()) * 65536 + worker;
    std::uint64_t before = 0;
    if (::pread(last_, &before, sizeof before, 0) == sizeof before && before == own) return false;
    return ::pwrite(last_, &own, sizeof own, 0) == sizeof own;
}

void crowd::share::record(nanoseconds took) {
    longest = std::max(longest, took);
    ++times[static_cast<int>(32 * std::log2(std::max(microseconds(took), 1.0)))];
}

crowd::share crowd::work(std::size_t worker, clock::time_point end) const {
    share result;
    auto& with = *locks_[worker];
    with.begin_round(end);
    for (auto begin = clock::now(); begin < end; begin = clock::now()) {
        with.lock();
        const auto taken = clock::now();
        const bool other = shared() && take_over(worker);
        while (clock::now() - taken < critical_) continue;
        with.unlock();
        const auto done = clock::now();
        if (done <= end) {
            ++result.cycles;
            if (other) ++result.handed;
        }
        result.record((shared() ? taken : done) - begin);
    }
    return result;
}

std::string crowd::play(nanoseconds length) {
    std::vector<share> shares(locks_.size());
    {
        std::barrier gate(static_cast<std::ptrdiff_t>(locks_.size()));
        std::vector<std::jthread> threads;
        for (std::size_t n = 0; n < locks_.size(); ++n) {
            threads.emplace_back([&, n] {
                gate.arrive_and_wait();
                shares[n] = work(n, clock::now() + length);
            });
        }
    }
    share total;
    for (const auto& each : shares) {
        total.cycles += each.cycles;
        total.handed += each.handed;
        total.longest = std::max(total.longest, each.longest);
        for (const auto& [bucket, count] : each.times) total.times[bucket] += count;
    }
    return "{\"cycles\": " + std::to_string(total.cycles) +
           ", \"handed\": " + std::to_string(total.handed) + ", \"shares\": [" +
           joined(shares, [](const share& each) { return std::to_string(each.cycles); }) +
           "], \"max_us\": " + std::to_string(microseconds(total.longest)) + ", \"times\": {" +
           joined(total.times,
                  [](const auto& each) {
                      return "\"" + std::to_string(each.first) +
                             "\": " + std::to_string(each.second);
                  }) +
           "}}";
}

}  // namespace holdfast::bench
