#include "sim/program/sweep.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::sim {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t seeds_at_a_time = 16;

class shared_work {
  public:
    shared_work(range seeds, fault_set allowed, choice worth, topology shape)
        : seeds_(seeds), allowed_(allowed), worth_(worth), shape_(shape), next_(seeds.first) {}

    void work() {
        script_library scripts;
        while (!over_) {
            const auto from = next_.fetch_add(seeds_at_a_time);
            if (from >= seeds_.last) return;
            for (auto seed = from; seed < std::min(from + seeds_at_a_time, seeds_.last); ++seed) {
                add(seed, scripts);
            }
        }
    }

    void stop() { over_ = true; }

    sweep_result result() {
        const std::lock_guard lock(mutex_);
        return result_;
    }

  private:
    void add(std::uint64_t seed, script_library& scripts) {
        const auto settings = draw_plan(seed, allowed_, shape_);
        if (!worth_(settings)) return;
        const auto ran = simulation(settings, scripts, false).run();
        const std::lock_guard lock(mutex_);
        auto& sum = result_.sum;
        ++sum.seeds;
        sum.events += ran.events;
        sum.attempts += ran.attempts;
        sum.acquired += ran.acquired;
        sum.handed_off += ran.handed_off;
        sum.fail_overs += ran.fail_overs;
        sum.exclusion_checked += settings.promises_exclusion() ? 1U : 0U;
        sum.order_checked += settings.fencing && settings.promises_token_order() ? 1U : 0U;
        sum.simulated += ran.simulated;
        if (!ran.found) return;
        over_ = true;
        if (!result_.first || seed < result_.first->settings.seed) {
            result_.first = failure{settings, *ran.found};
        }
    }

    range seeds_;
    fault_set allowed_;
    choice worth_;
    topology shape_;
    std::atomic<std::uint64_t> next_;
    std::atomic<bool> over_ = false;
    std::mutex mutex_;
    sweep_result result_;
};

}  // namespace

sweep_result sweep(range seeds, unsigned jobs, fault_set allowed, const watcher& watch,
                   choice worth, topology shape) {
    const auto begun = clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(clock::now() - begun).count();
    };
    shared_work work(seeds, allowed, worth, shape);
    std::atomic<unsigned> running = jobs;
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < jobs; ++i) {
        threads.emplace_back([&] {
            work.work();
            --running;
        });
    }
    while (running > 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (!watch) continue;
        auto so_far = work.result().sum;
        so_far.elapsed_seconds = elapsed();
        if (!watch(so_far)) work.stop();
    }
    threads.clear();
    auto result = work.result();
    result.sum.elapsed_seconds = elapsed();
    return result;
}

// Fewer faults make a shorter story. Any violation counts, not only the one that was found: one
// cause shows itself in several ways.
failure minimise(const failure& found, script_library& scripts) {
    auto least = found;
    for (bool smaller = true; smaller;) {
        smaller = false;
        least.settings.faults.for_each([&](fault f) {
            auto fewer = least.settings.faults;
            if (!fewer.has(f)) return;
            fewer.erase(f);
            const auto settings = draw_plan(found.settings.seed, fewer, found.settings.shape());
            const auto ran = simulation(settings, scripts, false).run();
            if (!ran.found) return;
            least = {settings, *ran.found};
            smaller = true;
        });
    }
    return least;
}

}  // namespace holdfast::sim
