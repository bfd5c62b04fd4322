#include "sim/command_line.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sim/explore.hpp"
#include "sim/hunt.hpp"
#include "sim/mutants.hpp"
#include "sim/sweep.hpp"

namespace holdfast::sim {
namespace {

constexpr const char* usage =
    R"(holdfast-sim: runs the lock's own decisions against simulated servers, networks and clocks

  holdfast-sim --seeds A..B [--jobs N] [--faults LIST]   runs the seeds from A to B-1
  holdfast-sim --seed S [--trace] [--faults LIST]        runs one, and tells its story
  holdfast-sim --explore [--attempts N] [--losses N] [--crashes N] [--expiries N] [--jobs N]
               [--reduction plain|leaps|full]            every schedule of a small case
  holdfast-sim --mutants [--most SEEDS]                  breaks each rule, and must notice
  holdfast-sim --mutant NAME ...                         any of the above with a rule broken

LIST: fault names separated by commas, or none. A seed chooses among those.
Exit code: 0 all is well, 1 a rule was broken or a mutant not caught, 2 usage.
)";

struct options {
    range seeds{0, 1000};
    std::optional<std::uint64_t> seed{};
    unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
    fault_set faults = fault_set::all();
    bool trace = false;
    bool explore = false;
    bool mutants = false;
    small_case size{};
    std::uint64_t most = 200'000;
    const mutant* broken = nullptr;
};

std::optional<std::uint64_t> number(std::string_view text) {
    char* end = nullptr;
    const std::string copy(text);
    const auto parsed = std::strtoull(copy.c_str(), &end, 10);
    return copy.empty() || *end != '\0' ? std::nullopt : std::optional<std::uint64_t>(parsed);
}

bool parse_range(std::string_view text, range& into) {
    const auto dots = text.find("..");
    if (dots == std::string_view::npos) return false;
    const auto first = number(text.substr(0, dots));
    const auto last = number(text.substr(dots + 2));
    if (!first || !last || *first >= *last) return false;
    into = {*first, *last};
    return true;
}

bool parse_reduction(std::string_view text, reduction& into) {
    constexpr std::array<std::string_view, 3> names{"plain", "leaps", "full"};
    const auto found = std::ranges::find(names, text);
    if (found != names.end()) into = static_cast<reduction>(found - names.begin());
    return found != names.end();
}

bool set_number(options& o, std::string_view name, std::uint64_t value) {
    const auto count = static_cast<unsigned>(value);
    if (name == "--seed") return o.seed = value, true;
    if (name == "--most") return o.most = value, true;
    if (name == "--jobs") return o.jobs = std::max(1U, count), true;
    if (name == "--losses") return o.size.losses = count, true;
    if (name == "--crashes") return o.size.crashes = count, true;
    if (name == "--expiries") return o.size.expiries = count, true;
    if (name == "--attempts") return o.size.attempts = count, true;
    return false;
}

// Returns false where the value is wrong.
bool set(options& o, std::string_view name, std::string_view value) {
    if (name == "--seeds") return parse_range(value, o.seeds);
    if (name == "--faults") {
        const auto list = fault_set::parse(value);
        if (list) o.faults = *list;
        return list.has_value();
    }
    if (name == "--reduction") return parse_reduction(value, o.size.by);
    if (name == "--mutant") return (o.broken = mutant_named(value)) != nullptr;
    const auto as_number = number(value);
    return as_number && set_number(o, name, *as_number);
}

std::optional<options> parse(const std::vector<std::string_view>& words) {
    options o;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--trace")
            o.trace = true;
        else if (words[i] == "--explore")
            o.explore = true;
        else if (words[i] == "--mutants")
            o.mutants = true;
        else if (i + 1 < words.size() && set(o, words[i], words[i + 1]))
            ++i;
        else
            return std::nullopt;
    }
    const bool too_much = o.size.losses > 1 && o.size.by != reduction::plain;
    if (o.explore && too_much) return std::nullopt;  // leaps are argued for with one alone
    return o;
}

double hours(instant simulated) { return static_cast<double>(simulated.count()) / 3.6e12; }

void print(std::FILE* to, const totals& sum) {
    std::fprintf(
        to, "%llu seeds, %.0f per second, %.1f simulated hours, %llu attempts, %llu acquired\n",
        static_cast<unsigned long long>(sum.seeds),
        static_cast<double>(sum.seeds) / sum.elapsed_seconds, hours(sum.simulated),
        static_cast<unsigned long long>(sum.attempts),
        static_cast<unsigned long long>(sum.acquired));
    std::fflush(to);
}

void print(const failure& found) {
    std::printf("%s\nBROKEN: %s at %.6f s\n  %s\n", found.settings.to_string().c_str(),
                name_of(found.broken.broken), static_cast<double>(found.broken.at.count()) / 1e9,
                found.broken.what.c_str());
}

// A core that is broken on purpose lives in the sibling program only.
const char* program() {
    const bool core = active_breakage != breakage::none;
    return core ? "holdfast-sim-mutants" : "holdfast-sim";
}

std::string replay_command(const failure& found) {
    std::string command = program();
    for (const auto& each : all_mutants()) {
        if (broken(each.which)) command += " --mutant " + std::string(each.name);
    }
    return command + " --seed " + std::to_string(found.settings.seed) + " --trace --faults " +
           found.settings.faults.to_string();
}

int report(const failure& found) {
    script_set scripts;
    print(found);
    std::printf("\nWith no more faults than it needs:\n");
    const auto least = minimise(found, scripts);
    print(least);
    std::printf("\nReplay: %s\n", replay_command(least).c_str());
    return 1;
}

int run_one(const options& o) {
    script_set scripts;
    const auto settings = draw_plan(*o.seed, o.faults);
    std::printf("%s\n", settings.to_string().c_str());
    const auto ran = simulation(settings, scripts, o.trace).run();
    std::fwrite(ran.trace.data(), 1, ran.trace.size(), stdout);
    std::printf("%.3f simulated seconds, %llu events, %llu attempts, %llu acquired\n",
                static_cast<double>(ran.simulated.count()) / 1e9,
                static_cast<unsigned long long>(ran.events),
                static_cast<unsigned long long>(ran.attempts),
                static_cast<unsigned long long>(ran.acquired));
    if (ran.found) print(failure{settings, *ran.found});
    return ran.found ? 1 : 0;
}

int run_many(const options& o) {
    const auto total = o.seeds.last - o.seeds.first;
    const auto result = sweep(o.seeds, o.jobs, o.faults, [&](const totals& sum) {
        std::fprintf(stderr, "%3llu %% ", static_cast<unsigned long long>(sum.seeds * 100 / total));
        print(stderr, sum);
    });
    print(stdout, result.sum);
    std::printf("exclusion (T1) checked in %llu of them, token order (T2) in %llu\n",
                static_cast<unsigned long long>(result.sum.exclusion_checked),
                static_cast<unsigned long long>(result.sum.order_checked));
    return result.first ? report(*result.first) : 0;
}

int run_small_case(const options& o) {
    auto size = o.size;
    size.jobs = o.jobs;
    return run_explorer(size);
}

// The core of this program cannot be broken; its sibling's can.
int run_sibling(const std::vector<std::string_view>& words) {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const auto sibling = here / "holdfast-sim-mutants";
    if (!std::filesystem::exists(sibling)) {
        std::fprintf(stderr, "holdfast-sim: %s is missing: build the target holdfast-sim-mutants\n",
                     sibling.c_str());
        return 2;
    }
    std::string command = "'" + sibling.string() + "'";
    for (const auto word : words) command += " '" + std::string(word) + "'";
    return std::system(command.c_str()) == 0 ? 0
                                             : 1;  // the words were understood: no quotes in them
}

}  // namespace

int run_command(int argc, char** argv) {
    const std::vector<std::string_view> words(argv + 1, argv + argc);
    const auto parsed = parse(words);
    if (!parsed || argc == 1) {
        std::fputs(usage, stderr);
        return 2;
    }
    if ((parsed->mutants || parsed->broken) && !core_is_breakable) return run_sibling(words);
    if (parsed->broken) active_breakage = parsed->broken->which;
    if (parsed->mutants) return hunt_all(parsed->jobs, parsed->most);
    if (parsed->explore) return run_small_case(*parsed);
    return parsed->seed ? run_one(*parsed) : run_many(*parsed);
}

}  // namespace holdfast::sim
