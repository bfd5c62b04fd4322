#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

#include "child.hpp"
#include "commands.hpp"
#include "describe.hpp"
#include "exit_code.hpp"
#include "holdfast/client.hpp"
#include "message.hpp"
#include "run_options.hpp"
#include "run_report.hpp"
#include "supervisor.hpp"
#include "waiting.hpp"

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

child_command command_of(const run_options& options, const lease& held) {
    child_command command;
    command.arguments = options.command;
    if (!options.shell_command.empty()) {
        command.arguments = {"/bin/sh", "-c", options.shell_command};
    }
    command.environment = {"HOLDFAST_HELD=1", "HOLDFAST_KEY=" + options.key,
                           "HOLDFAST_TOKEN=" + std::to_string(held.token()),
                           "HOLDFAST_OWNER=" + held.owner()};
    return command;
}

holdfast::options settings_of(const run_options& options) {
    holdfast::options settings = options.server.settings(options.lease_ttl());
    if (!options.verbose) return settings;
    settings.log = [](const log_record& record) {
        if (record.level != log_level::debug) say(record.message);
    };
    return settings;
}

/// One run, from the wait to the release.
class locked_run {
  public:
    locked_run(const run_options& options, signal_queue& signals, run_report& report)
        : options_(options), signals_(signals), report_(report) {}

    int perform(const holdfast::options& settings) {
        client through(settings);
        const bool talk = options_.verbose || ::isatty(STDERR_FILENO) != 0;
        wait_result waited =
            wait_for_lock(through, options_.key, options_.lease(), options_.wait, signals_, talk);
        report_.waited = waited.waited;
        if (waited.interrupted_by != 0) return interrupted(waited.interrupted_by);
        if (!waited.held) return not_acquired(waited, talk);
        return with_lock(*waited.held);
    }

  private:
    int interrupted(int signal) {
        report_.outcome = "interrupted";
        return exit_code::signal_base + signal;
    }

    int not_acquired(const wait_result& waited, bool talk) {
        report_.outcome = "not_acquired";
        if (talk) {
            std::string message = "'" + printable(options_.key) + "' is held";
            if (waited.held_by) {
                message += " by " + holder_in_words(*waited.held_by) + "; " +
                           lease_in_words(*waited.held_by);
            }
            say(message);
        }
        return options_.conflict_exit_code.value_or(exit_code::not_acquired);
    }

    int with_lock(lease& held) {
        report_.token = held.token();
        acquired_at_ = clock::now();
        // A signal that came with the lock, or after it: there is no command yet to forward it to.
        while (const auto signal = signals_.next()) {
            if (!is_ending(*signal)) continue;
            held.release();
            return interrupted(*signal);
        }
        const child_start started = start_child(command_of(options_, held), signals_);
        if (started.error != 0) return not_started(held, started.error);
        auto at_most = clock::time_point::max();
        if (options_.at_most) at_most = acquired_at_ + *options_.at_most;
        supervisor watching(held, started.process, signals_,
                            stop_schedule(options_.grace(), at_most));
        const int status = watching.watch();
        report_.child_exit =
            WIFSIGNALED(status) ? exit_code::signal_base + WTERMSIG(status) : WEXITSTATUS(status);
        return watching.stopped_for() == stop_schedule::cause::loss
                   ? lost(held)
                   : finished(held, watching.stopped_for());
    }

    int not_started(lease& held, int error) {
        release(held);
        report_.outcome = "not_started";
        const std::string& program =
            options_.command.empty() ? "/bin/sh" : options_.command.front();
        say(printable(program) + ": " + std::strerror(error));
        return error == ENOENT ? exit_code::not_found : exit_code::not_executable;
    }

    int lost(lease& held) {
        release(held);
        report_.outcome = "lost";
        say("the lock '" + printable(options_.key) +
            "' could not be kept; the command was stopped");
        return exit_code::lost;
    }

    int finished(lease& held, stop_schedule::cause stopped_for) {
        report_.outcome = stopped_for == stop_schedule::cause::at_most ? "stopped" : "completed";
        const bool waited = keep_for_at_least(held);
        if (release(held) != release_result::already_lost) return *report_.child_exit;
        if (waited) {
            say("the lock '" + printable(options_.key) + "' was lost after the command had ended");
            return *report_.child_exit;
        }
        report_.outcome = "lost";
        say("the lock '" + printable(options_.key) +
            "' was gone before the command had ended with " + std::to_string(*report_.child_exit));
        return exit_code::lost;
    }

    /// True if there was anything to wait for. A signal ends the wait, not the promise: the lock
    /// then stays until the time is over, by itself.
    bool keep_for_at_least(lease& held) {
        const auto until = acquired_at_ + options_.at_least.value_or(0ms);
        if (clock::now() >= until) return false;
        while (clock::now() < until && !held.lost()) {
            const auto left = std::chrono::ceil<milliseconds>(until - clock::now());
            pollfd watched{signals_.readable(), POLLIN, 0};
            ::poll(&watched, 1, static_cast<int>(std::min(left, milliseconds(1s)).count()));
            while (const auto signal = signals_.next()) {
                if (!is_ending(*signal)) continue;
                leave_until(held, until);
                return true;
            }
        }
        return true;
    }

    void leave_until(lease& held, clock::time_point until) {
        std::error_code ignored;
        held.extend(std::chrono::ceil<milliseconds>(until - clock::now()), ignored);
        held.detach();
        left_behind_ = true;
    }

    release_result release(lease& held) {
        report_.held = clock::now() - acquired_at_;
        if (left_behind_) return release_result::released;
        return held.release();
    }

    const run_options& options_;
    signal_queue& signals_;
    run_report& report_;
    clock::time_point acquired_at_;
    bool left_behind_ = false;
};

}  // namespace

int run(arguments given) {
    const run_options options = parse_run(given);
    run_report report(options.status_fd);
    // Before signals are queued: starting a local server can be interrupted like anything else.
    const holdfast::options settings = settings_of(options);
    signal_queue signals;
    return locked_run(options, signals, report).perform(settings);
}

}  // namespace holdfast::tool
