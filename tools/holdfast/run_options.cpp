#include "run_options.hpp"

#include <fcntl.h>

#include <algorithm>

#include "command_line.hpp"
#include "describe.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/semaphore.hpp"
#include "message.hpp"
#include "stop_schedule.hpp"

namespace holdfast::tool {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

void declare_locking(command_line& line, run_options& options) {
    line.heading("Locking");
    options.wait.declare(line);
    line.flag("-s,--shared", options.shared,
              "Share the lock with others who give -s, as readers do; those who do not wait");
    line.flag("-x,--exclusive", options.exclusive,
              "Share the lock with nobody, which is the default; both as in flock(1)");
    line.excludes("--shared", "--exclusive");
    line.integer("--permits", "N", options.permits, 1, static_cast<int>(max_permits),
                 "Take one of N permits, which all who use KEY so agree on; HOLDFAST_SLOT says "
                 "which, from 0 on; with one server only");
    line.excludes("--shared", "--permits");
    line.excludes("--exclusive", "--permits");
    line.texts("-k", "KEY", options.other_keys,
               "Lock this KEY, too, all of them or none, in whatever order; may be repeated");
    line.excludes("--shared", "-k");
    line.excludes("--permits", "-k");
    line.flag(
        "--fair", options.fair,
        "Serve in order of arrival, this run by itself: not ahead of anybody who came earlier; "
        "with one server only");
    line.integer("-E,--conflict-exit-code", "CODE", options.conflict_exit_code, 0, 255,
                 "Exit with CODE instead of 75 if somebody else holds the lock");
    line.duration("--ttl", options.ttl,
                  "Lease: how long the lock outlives us if we vanish; renewed while the command "
                  "runs (default 30s)");
    line.duration("--at-least", options.at_least,
                  "Keep the lock this long even if the command is faster; after a signal it stays "
                  "while we leave at once");
    line.limited_text("--label", "TEXT", max_label_bytes, options.label,
                      "Shown to whoever asks who holds the lock");
}

void declare_command(command_line& line, run_options& options) {
    line.heading("Command");
    line.text("-c,--command", "SHELL", options.shell_command, "Run SHELL with /bin/sh -c");
    line.duration("--at-most", options.at_most,
                  "Stop the command after this long: TERM, then KILL after --kill-after; 0: never");
    line.duration("--kill-after", options.kill_after,
                  "Grace between TERM and KILL; a command whose lock is about to be lost gets TERM "
                  "this long before the lease ends (default 5s)");
    line.flag("--wait-all", options.wait_all,
              "Hold the lock until all that the command has started has ended, too");
    line.heading("Reporting");
    line.integer("--status-fd", "N", options.status_fd, 0, 1 << 20,
                 "Write one JSON line about what happened to descriptor N");
    line.flag("-v,--verbose", options.verbose, "Say on standard error what happens");
    options.server.declare(line);
}

void explain(command_line& line) {
    line.note(
        "The command runs in a process group of its own, with HOLDFAST_HELD=1, HOLDFAST_KEY, "
        "HOLDFAST_TOKEN (fencing) and HOLDFAST_OWNER in its environment, and with --permits "
        "HOLDFAST_SLOT. If the lock cannot be renewed, or holdfast is killed, the command and all "
        "its descendants are ended before anybody else can get the lock.");
    line.note(
        "Exit codes: the command's own, or 128+N if signal N ended it. 75 (or -E) not acquired, 79 "
        "lock lost and command stopped, 69 server unreachable or in quarantine, 77 not permitted, "
        "76 not a Redis or not a lock, 64 usage, 78 configuration, of ours or of a server that "
        "cannot keep locks, 71 operating system, 126 not executable, 127 not found.");
    line.example("holdfast run -s catalogue -- export.sh",
                 "Beside other exports, while nobody runs an import with the same KEY without -s");
    line.example("holdfast run --permits 3 encoder -- encode.sh",
                 "Three at a time, each with a number of its own in HOLDFAST_SLOT");
    line.example("holdfast run -k account:42 account:17 -- transfer.sh 17 42",
                 "While nobody has either of them; the order does not matter");
    line.example("holdfast run -n nightly -- backup.sh --full",
                 "Run it on one machine only; others exit 75");
    line.example("holdfast run -n -E 0 --at-least 5m nightly -- backup.sh",
                 "In cron: whoever comes late, or with a wrong clock, does nothing and is quiet");
    line.example("holdfast run -w 10s --at-most 1h deploy -c 'git pull && make deploy'",
                 "Wait for at most ten seconds; stop after an hour");
}

void declare(command_line& line, run_options& options) {
    declare_locking(line, options);
    declare_command(line, options);
    explain(line);
}

/// What the library subtracts from a ttl: one per cent of clock error, and two milliseconds.
milliseconds guard_of(milliseconds ttl) {
    return std::chrono::ceil<milliseconds>(std::chrono::microseconds(ttl) / 100) + 2ms;
}

}  // namespace

// flock takes its -c after the file name, so we take ours after the key, too.
void split_command(run_options& options, arguments rest, const std::string& verb,
                   const std::string& key_name) {
    const std::string start = verb + ": ";
    const std::string advice = "\nTry 'holdfast " + verb + " --help'.";
    if (rest.empty()) throw failure(exit_code::usage, start + "which " + key_name + "?" + advice);
    options.key = rest.front();
    rest = rest.subspan(1);
    const bool shell_given = !options.shell_command.empty();
    if (!shell_given && !rest.empty() && (rest[0] == "-c" || rest[0] == "--command")) {
        if (rest.size() != 2) {
            throw failure(exit_code::usage,
                          start + rest[0] + " after the " + key_name +
                              " takes one argument and nothing behind it: put the whole shell "
                              "command into quotes" +
                              advice);
        }
        options.shell_command = rest[1];
        return;
    }
    const bool marked = !rest.empty() && rest.front() == "--";
    if (marked) rest = rest.subspan(1);
    if (!marked && !rest.empty() && rest.front().starts_with('-')) {
        throw failure(exit_code::usage, start + "options end at the " + key_name + ": put " +
                                            printable(rest.front()) + " before '" +
                                            printable(options.key) +
                                            "', or -- before a COMMAND that begins so" + advice);
    }
    if (rest.empty() == !shell_given) {
        throw failure(
            exit_code::usage,
            start + (shell_given ? "-c and a COMMAND: which one?" : "which COMMAND?") + advice);
    }
    options.command.assign(rest.begin(), rest.end());
}

void check(const run_options& options, const std::string& verb) {
    const auto notice = std::chrono::ceil<milliseconds>(stop_schedule::notice(options.grace()));
    // Of the shortest ttl that would do; what is subtracted grows with the ttl.
    const auto needed = (notice + 3ms) * 100 / 99 + 1ms;
    if (options.lease_ttl() <= notice + guard_of(options.lease_ttl())) {
        throw failure(exit_code::usage,
                      verb + ": --ttl " + format_duration(options.lease_ttl()) +
                          " leaves no time to work before the command would be stopped; with "
                          "--kill-after " +
                          format_duration(options.grace()) + " it takes " +
                          format_duration(needed) + " or more");
    }
    if (options.at_least && *options.at_least > longest_time) {
        throw failure(exit_code::usage,
                      verb + ": --at-least takes " + in_words(longest_time) + " at most");
    }
    if (options.status_fd && ::fcntl(*options.status_fd, F_GETFD) < 0) {
        throw failure(exit_code::usage, verb + ": --status-fd " +
                                            std::to_string(*options.status_fd) +
                                            " is not an open descriptor");
    }
}

run_options parse_run(arguments given) {
    run_options options;
    command_line line("run", "[OPTION...] KEY [--] COMMAND [ARG...]",
                      "Run COMMAND while holding the lock KEY, and release the lock when it ends.");
    declare(line, options);
    const std::size_t count = line.leading_options(given);
    arguments own = given.first(count);
    if (!own.empty() && own.back() == "--") own = own.first(count - 1);
    line.parse(own);
    if (options.at_most == 0ms) options.at_most.reset();
    split_command(options, given.subspan(count), "run", "KEY");
    check(options, "run");
    return options;
}

std::string run_options::name() const { return names_in_words(keys()); }

std::vector<std::string> run_options::keys() const {
    std::vector<std::string> all{key};
    for (const auto& each : other_keys) {
        if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
    }
    return all;
}

std::string run_options::named() const { return (elects ? "the lead of " : "the lock ") + name(); }

milliseconds run_options::lease_ttl() const { return ttl.value_or(30s); }

milliseconds run_options::grace() const { return kill_after.value_or(5s); }

acquire_options run_options::lease() const {
    acquire_options how;
    how.ttl = lease_ttl();
    how.loss_notice = std::chrono::ceil<milliseconds>(stop_schedule::notice(grace()));
    how.label = label;
    how.fair = fair;
    return how;
}

}  // namespace holdfast::tool
