#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "message.hpp"
#include "program.hpp"
#include "suggestion.hpp"

namespace holdfast::tool {

std::span<const command> commands() {
    static constexpr std::array<command, 14> all{{
        {"run", "Run a command while holding a lock", run},
        {"lock", "Take a lock and print its owner token, for scripts", lock},
        {"renew", "Let a lock taken with 'lock' live longer", renew},
        {"unlock", "Release a lock taken with 'lock'", unlock},
        {"elect", "Run a command while leading, or watch who leads", elect},
        {"status", "Say who holds a lock, and who waits for it", status},
        {"ls", "List the locks that Holdfast took", ls},
        {"limit", "Change how many permits a semaphore has", limit},
        {"doctor", "Check whether a server is fit to keep locks", doctor},
        {"enlist", "Let servers that restarted, or are new, vote again", enlist},
        {"local", "Start, stop or look at this machine's own server", local},
        {"bench", "Run the benchmarks", bench},
        {"lab", "Watch the classic ways to get locking wrong", lab},
        {"version", "Print the version", version},
    }};
    return all;
}

namespace {

std::string overview() {
    std::string text =
        "Usage: holdfast COMMAND [OPTION...]\n\n"
        "flock(1) for a fleet: locks that hold across machines, kept in Redis or Valkey.\n\n"
        "Commands:\n";
    for (const command& each : commands()) {
        std::string left = "  " + std::string(each.name);
        left.resize(12, ' ');
        text += left + std::string(each.summary) + "\n";
    }
    return text +
           "\n'holdfast help COMMAND' explains each, with examples; holdfast(1) explains all.\n\n"
           "Examples:\n"
           "  holdfast run -n nightly-backup -- backup.sh\n"
           "      One machine of the fleet runs it, the others do nothing (exit code 75)\n"
           "  holdfast run -w 5m deploy -- make deploy\n"
           "      Wait for those before us, at most five minutes\n"
           "  holdfast status deploy\n"
           "      Who is it that we wait for?\n\n"
           "The server is named by --url, HOLDFAST_URL or REDIS_URL; else it is one of this\n"
           "machine's own, and so is the lock.\n";
}

failure no_such_command(std::string_view name) {
    std::vector<std::string> names{"help"};
    for (const command& each : commands()) names.emplace_back(each.name);
    const std::string meant = closest(name, names);
    return {exit_code::usage, "there is no command '" + printable(name) + "'" +
                                  (meant.empty() ? "; " : "; did you mean '" + meant + "'? ") +
                                  "'holdfast --help' lists them"};
}

bool asks_for_overview(std::string_view name) {
    return name == "help" || name == "--help" || name == "-h";
}

int dispatch(arguments given) {
    if (given.empty()) {
        throw failure(exit_code::usage, "which command?\n\n" + overview());
    }
    std::string_view name = given.front();
    const bool help = name == "help" && given.size() > 1;
    if (help) name = given[1];
    if (help && given.size() > 2) {
        throw failure(exit_code::usage, "help: one COMMAND at a time: what is '" +
                                            printable(given[2]) + "'?\nTry 'holdfast help " +
                                            printable(name) + "'.");
    }
    if (asks_for_overview(name)) throw help_wanted(overview());
    if (name == "--version" || name == "-V") name = "version";
    const auto found = std::find_if(commands().begin(), commands().end(),
                                    [&](const command& each) { return each.name == name; });
    if (found == commands().end() && name.starts_with('-')) {
        throw failure(exit_code::usage, "options come after the command: holdfast COMMAND " +
                                            printable(name) + " ...");
    }
    if (found == commands().end()) throw no_such_command(name);
    const std::vector<std::string> explain{"--help"};
    return found->run(help ? arguments(explain) : given.subspan(1));
}

}  // namespace
}  // namespace holdfast::tool

int main(int count, char** values) {
    return holdfast::tool::run_program(count, values, holdfast::tool::dispatch);
}
