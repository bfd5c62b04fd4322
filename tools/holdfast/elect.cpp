#include <string>

#include "command_line.hpp"
#include "commands.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/election.hpp"
#include "leader_watch.hpp"
#include "message.hpp"
#include "run_options.hpp"

namespace holdfast::tool {
namespace {

struct elect_options {
    run_options run;
    bool watch = false;
    bool json = false;
};

void declare(command_line& line, elect_options& options) {
    auto& run = options.run;
    line.heading("Leading");
    line.limited_text("--value", "TEXT", max_leader_value_bytes, run.value,
                      "Shown to whoever asks who leads: an address, mostly");
    line.duration("--ttl", run.ttl,
                  "Lease: how long the others wait if we vanish; renewed while we lead (default "
                  "30s)");
    line.limited_text("--label", "TEXT", max_label_bytes, run.label,
                      "Shown beside user, host and process");
    line.heading("Command");
    line.text("-c,--command", "SHELL", run.shell_command, "Run SHELL with /bin/sh -c");
    line.duration("--kill-after", run.kill_after,
                  "Grace between TERM and KILL; a command whose lead is about to be lost gets TERM "
                  "this long before the lease ends (default 5s)");
    line.heading("Watching");
    line.flag("--watch", options.watch,
              "Run nothing: print who leads now, and a line for each change");
    line.flag("--json", options.json, "With --watch: one JSON object per line");
    line.heading("Reporting");
    line.flag("-v,--verbose", run.verbose, "Say on standard error what happens");
    run.server.declare(line);
    line.note(
        "Candidates wait for their turn, as long as it takes; with one server in the order of "
        "arrival. The command runs as under 'run', with the term as HOLDFAST_TOKEN. If the lead "
        "cannot be kept, it is ended before anybody else can lead, and the exit code is 79: let "
        "whoever started it start it again. A command that ends resigns.");
    line.note(
        "Exit codes: the command's own, or 128+N if signal N ended it. 79 lead lost and command "
        "stopped; others as in 'run --help'. --watch goes on "
        "until a signal ends it, once it has reached the servers.");
    line.example("holdfast elect --value 10.0.0.7:8080 scheduler -- ./scheduler",
                 "On every machine: one of them runs it, the others stand by");
    line.example("holdfast elect --watch --json scheduler | jq -r --unbuffered .value",
                 "Where is it? Told at once when that changes");
}

void refuse(bool wrong, const std::string& why) {
    if (!wrong) return;
    throw failure(exit_code::usage, "elect: " + why + "\nTry 'holdfast elect --help'.");
}

std::string name_to_watch(arguments rest, const elect_options& options) {
    const auto& run = options.run;
    const bool leads = !run.value.empty() || run.ttl || run.kill_after || !run.label.empty();
    refuse(leads,
           "--watch does not lead: it goes without --value, --ttl, --kill-after and --label");
    refuse(rest.empty(), "which NAME?");
    refuse(rest.size() > 1 || !options.run.shell_command.empty(),
           "--watch runs no COMMAND: what is '" +
               printable(rest.size() > 1 ? rest[1] : options.run.shell_command) + "'?");
    return rest.front();
}

}  // namespace

int elect(arguments given) {
    elect_options options;
    options.run.elects = true;
    command_line line("elect",
                      "[OPTION...] NAME [--] COMMAND [ARG...]  |  --watch [OPTION...] NAME",
                      "Stand for election as the leader of NAME, and run COMMAND while leading.");
    declare(line, options);
    const std::size_t count = line.leading_options(given);
    arguments own = given.first(count);
    if (!own.empty() && own.back() == "--") own = own.first(count - 1);
    line.parse(own);
    const auto rest = given.subspan(count);
    if (options.watch) {
        const auto name = name_to_watch(rest, options);
        return watch_leader(options.run.server.settings(), name, options.json);
    }
    refuse(options.json, "--json goes with --watch");
    split_command(options.run, rest, "elect", "NAME");
    check(options.run, "elect");
    return run_locked(options.run);
}

}  // namespace holdfast::tool
