#include "sim/program/command_line.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/explore/explore.hpp"
#include "sim/program/child.hpp"
#include "sim/program/hunt.hpp"
#include "sim/program/options.hpp"
#include "sim/program/sweep.hpp"

namespace holdfast::sim {
namespace {

using task = program_options::task;

constexpr int interrupted = 128 + SIGINT;

std::atomic<bool> enough = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal sets it

unsigned long long as_printed(std::uint64_t value) { return value; }

void print(std::FILE* to, const totals& sum) {
    std::fprintf(to,
                 "%llu seeds, %.0f per second, %.1f simulated hours, %llu attempts, %llu acquired, "
                 "%llu of them handed off\n",
                 as_printed(sum.seeds), static_cast<double>(sum.seeds) / sum.elapsed_seconds,
                 static_cast<double>(sum.simulated.count()) / 3.6e12, as_printed(sum.attempts),
                 as_printed(sum.acquired), as_printed(sum.handed_off));
    if (sum.fail_overs > 0) std::fprintf(to, "%llu fail-overs\n", as_printed(sum.fail_overs));
    std::fflush(to);
}

void print(const failure& found) {
    std::printf("%s\nBROKEN: %s at %.6f s\n  %s\n", found.settings.to_string().c_str(),
                name_of(found.broken.broken), static_cast<double>(found.broken.at.count()) / 1e9,
                found.broken.what.c_str());
}

std::string replay_command(const failure& found) {
    std::string command = "holdfast-sim";
    for (const auto& each : all_mutants()) {
        if (broken(each.which)) command += " --mutant " + std::string(each.name);
    }
    if (found.settings.shape() != topology::servers) {
        command += std::string(" --topology ") + name_of(found.settings.shape());
    }
    return command + " --seed " + std::to_string(found.settings.seed) + " --trace --faults " +
           found.settings.faults.to_string();
}

int report(const failure& found) {
    script_library scripts;
    print(found);
    std::printf("\nWith no more faults than it needs:\n");
    const auto least = minimise(found, scripts);
    print(least);
    std::printf("\nReplay: %s\n", replay_command(least).c_str());
    return 1;
}

int run_one(const program_options& o) {
    script_library scripts;
    const auto settings = draw_plan(o.seed, o.faults, o.shape);
    std::printf("%s\n", settings.to_string().c_str());
    const auto ran = simulation(settings, scripts, o.trace).run();
    std::fwrite(ran.trace.data(), 1, ran.trace.size(), stdout);
    std::printf("%.3f simulated seconds, %llu events, %llu attempts, %llu acquired\n",
                static_cast<double>(ran.simulated.count()) / 1e9, as_printed(ran.events),
                as_printed(ran.attempts), as_printed(ran.acquired));
    if (ran.found) print(failure{settings, *ran.found});
    return ran.found ? 1 : 0;
}

// A line every ten seconds, where somebody may be watching.
class progress {
  public:
    explicit progress(std::uint64_t total) : total_(total) {}

    bool operator()(const totals& sum) {
        if (sum.elapsed_seconds >= next_) {
            next_ += 10;
            std::fprintf(stderr, "%3llu %% ", as_printed(sum.seeds * 100 / total_));
            print(stderr, sum);
        }
        return !enough;
    }

  private:
    std::uint64_t total_;
    double next_ = 10;
};

int run_many(const program_options& o) {
    std::signal(SIGINT, [](int) { enough = true; });
    const auto result =
        sweep(o.seeds, o.jobs, o.faults, progress(o.seeds.last - o.seeds.first), any_seed, o.shape);
    std::signal(SIGINT, SIG_DFL);
    print(stdout, result.sum);
    std::printf("exclusion (T1) checked in %llu of them, token order (T2) in %llu\n",
                as_printed(result.sum.exclusion_checked), as_printed(result.sum.order_checked));
    if (result.first) return report(*result.first);
    if (enough) std::printf("interrupted; none of these has broken a rule\n");
    return enough ? interrupted : 0;
}

int run_small_case(const program_options& o) {
    auto size = o.size;
    size.jobs = o.jobs;
    return o.queue ? run_queue_explorer(size) : run_explorer(size);
}

// The rules of this program cannot be broken; its sibling's can.
int run_sibling(const std::vector<std::string_view>& words) {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const auto sibling = here / "holdfast-sim-mutants";
    if (!std::filesystem::exists(sibling)) {
        std::fprintf(stderr, "holdfast-sim: %s is missing: build the target holdfast-sim-mutants\n",
                     sibling.c_str());
        return 2;
    }
    const auto ended = run_program(sibling, {words.begin(), words.end()});
    return ended.signal != 0 ? 128 + ended.signal : ended.code;
}

int run(const program_options& o) {
    switch (o.what) {
        case task::help: return std::fputs(usage, stdout), 0;
        case task::mutants: return hunt_all(o.jobs, o.most);
        case task::hunt: return hunt(*o.broken, o.jobs, o.most);
        case task::explore: return run_small_case(o);
        case task::seed: return run_one(o);
        case task::seeds: break;
    }
    return run_many(o);
}

}  // namespace

int run_command(int argc, char** argv) {
    const std::vector<std::string_view> words(argv + 1, argv + argc);
    const auto parsed = parse(words);
    if (!parsed) {
        std::fputs(usage, stderr);
        return 2;
    }
    const bool breaks = parsed->what == task::mutants || parsed->broken != nullptr;
    if (breaks && !rules_are_breakable) return run_sibling(words);
    if (parsed->broken != nullptr) active_breakage = parsed->broken->which;
    return run(*parsed);
}

}  // namespace holdfast::sim
