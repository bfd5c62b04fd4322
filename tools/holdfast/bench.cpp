#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "companion.hpp"
#include "exit_code.hpp"
#include "failure.hpp"

namespace holdfast::tool {
namespace {

/// What the harness understands. It reads the arguments again: here they are explained, and wrong
/// ones are refused, whether it is installed or not.
struct bench_options {
    bool quick = false, no_peers = false;
    std::vector<std::string> contestants, titles, beside;
    std::optional<int> rounds;
    std::string seconds, json, picture, part, before;
};

void declare(command_line& line, bench_options& into) {
    line.flag("--quick", into.quick,
              "One short round of each: shows that everything runs, its numbers mean nothing");
    line.flag("--no-peers", into.no_peers, "Only Holdfast and its floor");
    line.texts("--only", "NAME", into.contestants,
               "Only contestants whose name begins so; may be repeated");
    line.texts("--match", "TEXT", into.titles,
               "Only tables that have TEXT in their title; may be repeated");
    line.texts("--beside", "NAME=BUILD", into.beside,
               "Measure another build beside this one, under that name: BUILD is its directory, or "
               "its holdfast-bench-driver; may be repeated");
    line.text("--before", "BUILD", into.before,
              "Measure nothing but what 'server' does, of this build and of another, in many short "
              "turns");
    line.integer("--rounds", "N", into.rounds, 1, 1000,
                 "Rounds that count; default: 7, 40 with --before");
    line.text("--seconds", "S", into.seconds,
              "How long a round takes; default: 0.5, 0.3 with --before");
    line.text("--json,--output", "FILE", into.json,
              "Where the JSON goes; - is standard output, and the tables then go to standard "
              "error. Default: build/bench.json in the source tree, else holdfast-bench.json");
    line.text("--picture", "FILE", into.picture,
              "Where the picture goes, as SVG; default: beside the JSON");
    line.text("--part", "PART", into.part, "The same as PART");
    line.positional("PART", into.part, false);
}

void explain(command_line& line) {
    line.note(
        "PART is one or more of the letters a (one thread, uncontended), b (threads with keys of "
        "their own), c (coroutines), d (one contended key), e (a quorum of five), f (leases held), "
        "g (ten thousand waiters of one key), h (what spinning costs), i (a master with replicas, "
        "and fail-overs), j (kinds of locks beside the mutex); or one table that needs no peer: "
        "server, coroutines, quorum, votes, held, replication. Without it: all of them. --only and "
        "--match leave those that need no peer out.");
    line.note(
        "Under a table stands Holdfast beside the best peer, other builds and the bound, a kind of "
        "lock beside the mutex and its equivalent, round by round: the median of these pairs, and "
        "the interval in which it lies.");
    line.note(
        "Servers are started here. Peers are built from their package registries, in the source "
        "tree below build/peers, else below ~/.cache/holdfast/peers; one whose toolchain is "
        "missing is left out with a message.");
    line.note(
        "Needs python3, redis-server, redis-benchmark and taskset, and the harness: it is built "
        "with the tests, and installed as the component 'bench'. What is missing is named, with "
        "exit code 69.");
    line.example("holdfast bench", "Everything, beside hiredis, redis-benchmark and the peers");
    line.example("holdfast bench --no-peers d", "One contended key, Holdfast and its floor only");
    line.example("holdfast bench --beside 0.1=../old/build/release abd",
                 "Beside the peers, and beside another build");
    line.example("holdfast bench --before ../old/build/release",
                 "Whether a change has made a cycle slower");
    line.example("holdfast bench --json - held", "A hundred thousand leases, as JSON");
}

}  // namespace

int bench(arguments given) {
    command_line line("bench", "[OPTION...] [PART]",
                      "Measure Holdfast beside its floor and the lock libraries of other "
                      "languages: tables, the same as JSON, and as a picture.");
    bench_options ignored;
    declare(line, ignored);
    explain(line);
    line.parse(given);
    const auto programs = companions(
        "bench", "harness/__main__.py",
        "bench: the benchmarks are not installed; in the source tree, script/build makes them, and "
        "'cmake --install build/release --component bench' installs them");
    // -B: a benchmark leaves no compiled modules in an installation.
    std::vector<std::string> words{"python3", "-B",        programs / "harness", "--programs",
                                   programs,  "--command", this_program()};
    words.insert(words.end(), given.begin(), given.end());
    become(words);
    throw failure(errno == ENOENT ? exit_code::unavailable : exit_code::system,
                  std::string("bench: python3, which it is written in: ") + std::strerror(errno));
}

}  // namespace holdfast::tool
