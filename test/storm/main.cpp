#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <span>
#include <stdexcept>

#include "storm/course.hpp"
#include "storm/coverage.hpp"
#include "storm/summary.hpp"
#include "storm/timeline.hpp"
#include "storm/worker.hpp"

namespace holdfast::storm {
namespace {

constexpr int exit_violations = 1;
constexpr int exit_trouble = 2;
constexpr int exit_usage = 64;
constexpr int exit_interrupted = 130;

constexpr auto usage =
    R"(usage: holdfast-storm [--topology one|quorum|sentinel|cluster] [--replica-acks N] [--minutes M] [--seed S]
                      [--directory D]
       holdfast-storm --check DIRECTORY

Lets workers lock through the library on real servers while these, the network and the workers
themselves are broken on purpose, and checks afterwards what all of them noted.

  --topology   one server, a quorum of five, a replication group of three behind three Sentinels, or
               a Cluster of three shards of three (default: quorum)
  --replica-acks  with sentinel or cluster: as of the URL; 'none' has to bring violations
  --minutes    how long, a minute at least; may be a fraction (default: 2)
  --seed       of everything that chance decides here (default: from the clock). What processes
               do at the same time is not decided by it
  --directory  for histories, logs and timelines (default: build/storm/TOPOLOGY-SEED); what an
               earlier storm left there is deleted
  --check      reads the histories of an earlier storm once more

Exit codes: 0 all promises were kept; 1 violations; 2 the storm itself failed, or nothing of a kind
happened that it is there for; 130 Ctrl-C, after checking what there was.
)";

volatile std::sig_atomic_t interrupted = 0;

void interrupt(int) { interrupted = 1; }

double number_from(const std::string& text) {
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    if (used != text.size()) throw std::invalid_argument(text);
    return value;
}

struct command_line {
    course_settings course{};
    std::filesystem::path check{};
};

command_line parse(std::span<const std::string> arguments) {
    command_line read;
    read.course.seed = static_cast<std::uint64_t>(now().count()) % 1'000'000;
    for (std::size_t n = 0; n < arguments.size(); n += 2) {
        const std::string& name = arguments[n];
        if (n + 1 == arguments.size()) throw std::invalid_argument(name + " needs a value");
        const std::string& value = arguments[n + 1];
        const bool known =
            value == "one" || value == "quorum" || value == "sentinel" || value == "cluster";
        if (name == "--topology" && known) {
            read.course.topology = value;
        } else if (name == "--replica-acks") {
            read.course.replica_acks = value;
        } else if (name == "--minutes" && number_from(value) >= 1) {
            read.course.minutes = number_from(value);
        } else if (name == "--seed") {
            read.course.seed = std::stoull(value);
        } else if (name == "--directory") {
            read.course.directory = value;
        } else if (name == "--check") {
            read.check = value;
        } else {
            throw std::invalid_argument(name + ' ' + value);
        }
    }
    const bool replicated = read.course.topology == "sentinel" || read.course.topology == "cluster";
    if (!read.course.replica_acks.empty() && !replicated) {
        throw std::invalid_argument("--replica-acks goes with --topology sentinel or cluster");
    }
    if (read.course.directory.empty()) {
        read.course.directory =
            "build/storm/" + read.course.topology + '-' + std::to_string(read.course.seed);
    }
    return read;
}

std::vector<history> histories_in(const std::filesystem::path& directory) {
    std::vector<history> all;
    for (const auto& each : std::filesystem::directory_iterator(directory)) {
        if (each.path().extension() == ".history") all.push_back(read_history(each.path()));
    }
    if (all.empty()) throw std::runtime_error("no histories in " + directory.native());
    return all;
}

/// A picture from each healing to the next.
void draw_timelines(const std::filesystem::path& directory, const account& all,
                    const verdict& found) {
    instant begin = all.begin;
    int number = 0;
    const auto draw = [&](instant end) {
        std::ofstream file(directory / ("timeline-" + std::to_string(++number) + ".svg"));
        draw_timeline(file, all, found, begin, end);
        begin = end;
    };
    for (const phase& each : all.phases) {
        if (each.kind == "calm" || each.kind == "rush") draw(each.end);
    }
    if (number == 0) draw(all.end);
}

enum class extent : std::uint8_t { whole, cut_short };

int judge(const std::filesystem::path& directory, extent how_far) {
    const account all = reconstruct(histories_in(directory));
    const verdict found = check(all);
    draw_timelines(directory, all, found);
    std::ofstream file(directory / "summary.txt");
    print_summary(file, all, found);
    print_summary(std::cout, all, found);
    std::cout << "files       " << directory.native() << "/{*.history,timeline-*.svg,summary.txt}"
              << std::endl;
    if (how_far == extent::cut_short) return exit_interrupted;
    if (!found.violations.empty()) return exit_violations;
    const auto missing = not_covered(all);
    for (const auto& what : missing) std::cout << "not covered " << what << std::endl;
    return missing.empty() ? 0 : exit_trouble;
}

int storm(course_settings settings) {
    settings.interrupted = [] { return interrupted != 0; };
    settings.program = std::filesystem::read_symlink("/proc/self/exe");
    settings.directory = std::filesystem::absolute(settings.directory);
    std::cout << "storm       topology " << settings.topology << ", " << settings.minutes
              << " minutes, seed " << settings.seed << std::endl;
    struct sigaction action {};
    action.sa_handler = interrupt;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    const bool whole = run_course(settings);
    return judge(settings.directory, whole ? extent::whole : extent::cut_short);
}

int serve(std::span<const std::string> arguments) {
    if (arguments.size() < 6) throw std::invalid_argument("a worker needs more orders");
    worker_orders orders{.name = arguments[0],
                         .generation = std::stoull(arguments[1]),
                         .seed = std::stoull(arguments[2]),
                         .directory = arguments[3],
                         .register_port = static_cast<std::uint16_t>(std::stoul(arguments[4]))};
    orders.urls.assign(arguments.begin() + 5, arguments.end());
    return run_worker(orders);
}

int run(std::span<const std::string> arguments) {
    if (!arguments.empty() && arguments[0] == "--worker") return serve(arguments.subspan(1));
    if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
        std::cout << usage;
        return 0;
    }
    const command_line read = parse(arguments);
    return read.check.empty() ? storm(read.course) : judge(read.check, extent::whole);
}

}  // namespace
}  // namespace holdfast::storm

int main(int count, char** values) {
    const std::vector<std::string> arguments(values + 1, values + count);
    try {
        return holdfast::storm::run(arguments);
    } catch (const std::invalid_argument& error) {
        std::cerr << "holdfast-storm: " << error.what() << '\n' << holdfast::storm::usage;
        return holdfast::storm::exit_usage;
    } catch (const std::exception& error) {
        std::cerr << "holdfast-storm: " << error.what() << '\n';
        return holdfast::storm::exit_trouble;
    }
}
