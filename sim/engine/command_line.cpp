#include "sim/engine/command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sim/engine/hunt.hpp"
#include "sim/engine/sweep.hpp"
#include "sim/hunt.hpp"
#include "sim/mutants.hpp"

namespace holdfast::sim::engine {
namespace {

constexpr const char* usage =
    R"(holdfast-sim-engine: runs the shipped client against simulated servers, networks and clocks

  holdfast-sim-engine --seeds A..B [--jobs N] [--faults LIST]   runs the seeds from A to B-1
  holdfast-sim-engine --seed S [--trace] [--faults LIST]        runs one, and tells its story
  holdfast-sim-engine-mutants --mutant NAME ...                 either, with a rule broken
  holdfast-sim-engine-mutants --mutants [--most SEEDS]          breaks each rule, and must notice

LIST: fault names separated by commas, or none. A seed chooses among those.
Exit code: 0 all is well, 1 a rule was broken or a mutant not caught, 2 usage.
)";

struct options {
    range seeds{0, 1000};
    std::optional<std::uint64_t> seed{};
    unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
    fault_set faults = fault_set::all();
    bool trace = false;
    bool mutants = false;
    const mutant* prey = nullptr;  // of a hunt for all mutants: one of them
    std::uint64_t most = 5'000;
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

// Of what ships, the rules can be broken in the sibling program only.
bool break_rule(std::string_view name) {
    const auto* found = mutant_named(name);
    const bool here =
        found != nullptr && (core_is_breakable || found->where == mutant::place::script);
    if (here) active_breakage = found->which;
    return here;
}

// Returns false where the value is wrong.
bool set(options& o, std::string_view name, std::string_view value) {
    if (name == "--seeds") return parse_range(value, o.seeds);
    if (name == "--mutant") return break_rule(value);
    if (name == "--hunt") return (o.prey = mutant_named(value)) != nullptr && core_is_breakable;
    if (name == "--faults") {
        const auto list = fault_set::parse(value);
        if (list) o.faults = *list;
        return list.has_value();
    }
    const auto as_number = number(value);
    if (!as_number) return false;
    if (name == "--seed") return o.seed = *as_number, true;
    if (name == "--most") return o.most = *as_number, true;
    if (name == "--jobs") return o.jobs = std::max(1U, static_cast<unsigned>(*as_number)), true;
    return false;
}

std::optional<options> parse(const std::vector<std::string_view>& words) {
    options o;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--trace")
            o.trace = true;
        else if (words[i] == "--mutants" && core_is_breakable)
            o.mutants = true;
        else if (i + 1 < words.size() && set(o, words[i], words[i + 1]))
            ++i;
        else
            return std::nullopt;
    }
    return o;
}

unsigned long long as_printed(std::uint64_t value) { return value; }

void print(std::FILE* to, const totals& sum) {
    std::fprintf(to,
                 "%llu seeds, %.0f per second, %.1f simulated hours, %llu attempts, %llu acquired, "
                 "%llu of them handed off\n",
                 as_printed(sum.seeds), static_cast<double>(sum.seeds) / sum.elapsed_seconds,
                 static_cast<double>(sum.simulated.count()) / 3.6e12, as_printed(sum.attempts),
                 as_printed(sum.acquired), as_printed(sum.handed_off));
    std::fflush(to);
}

void print(const failure& found) {
    std::printf("%s\nBROKEN: %s at %.6f s\n  %s\n", found.settings.to_string().c_str(),
                name_of(found.broken.broken), static_cast<double>(found.broken.at.count()) / 1e9,
                found.broken.what.c_str());
}

int report(const failure& found) {
    script_library scripts;
    print(found);
    std::printf("\nWith no more faults than it needs:\n");
    const auto least = minimise(found, scripts);
    print(least);
    std::string command = core_is_breakable ? "holdfast-sim-engine-mutants" : "holdfast-sim-engine";
    for (const auto& each : all_mutants()) {
        if (broken(each.which)) command += " --mutant " + std::string(each.name);
    }
    std::printf("\nReplay: %s --seed %llu --trace --faults %s\n", command.c_str(),
                as_printed(least.settings.seed), least.settings.faults.to_string().c_str());
    return 1;
}

int run_one(const options& o) {
    script_library scripts;
    const auto settings = draw_whole_plan(*o.seed, o.faults);
    std::printf("%s\n", settings.to_string().c_str());
    const auto ran = simulation(settings, scripts, o.trace).run();
    std::fwrite(ran.trace.data(), 1, ran.trace.size(), stdout);
    std::printf("%.3f simulated seconds, %llu events, %llu attempts, %llu acquired\n",
                static_cast<double>(ran.simulated.count()) / 1e9, as_printed(ran.events),
                as_printed(ran.attempts), as_printed(ran.acquired));
    if (ran.found) print(failure{settings, *ran.found});
    return ran.found ? 1 : 0;
}

int run_many(const options& o) {
    const auto total = o.seeds.last - o.seeds.first;
    const auto result = sweep(o.seeds, o.jobs, o.faults, [&](const totals& sum) {
        std::fprintf(stderr, "%3llu %% ", as_printed(sum.seeds * 100 / total));
        print(stderr, sum);
    });
    print(stdout, result.sum);
    std::printf("exclusion (T1) checked in %llu of them, token order (T2) in %llu\n",
                as_printed(result.sum.exclusion_checked), as_printed(result.sum.order_checked));
    return result.first ? report(*result.first) : 0;
}

}  // namespace

int run_command(int argc, char** argv) {
    const std::vector<std::string_view> words(argv + 1, argv + argc);
    const auto parsed = parse(words);
    if (!parsed || argc == 1) {
        std::fputs(usage, stderr);
        return 2;
    }
    if (parsed->prey != nullptr) return hunt(*parsed->prey, parsed->jobs, parsed->most);
    if (parsed->mutants) return hunt_all(parsed->jobs, parsed->most);
    return parsed->seed ? run_one(*parsed) : run_many(*parsed);
}

}  // namespace holdfast::sim::engine
