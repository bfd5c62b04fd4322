#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "commands.hpp"
#include "describe.hpp"
#include "exit_code.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/operate.hpp"
#include "interrupt.hpp"
#include "message.hpp"
#include "run_options.hpp"
#include "run_report.hpp"
#include "supervised_command.hpp"
#include "waiting.hpp"
#include "wording.hpp"

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

supervision supervision_of(const run_options& options) {
    supervision what{options.command, options.grace(), options.wait_all};
    if (!options.shell_command.empty()) what.arguments = {"/bin/sh", "-c", options.shell_command};
    return what;
}

std::vector<std::string> environment_of(const run_options& options, const lease& held) {
    std::string keys;
    for (const auto& key : options.keys()) keys += (keys.empty() ? "" : "\n") + key;
    std::vector<std::string> all{"HOLDFAST_HELD=1", "HOLDFAST_KEY=" + keys,
                                 "HOLDFAST_TOKEN=" + std::to_string(held.token()),
                                 "HOLDFAST_OWNER=" + held.owner()};
    if (options.permits) all.push_back("HOLDFAST_SLOT=" + std::to_string(held.slot()));
    return all;
}

holdfast::options settings_of(const run_options& options) {
    holdfast::options settings = options.server.settings(options.lease_ttl());
    if (!options.verbose) return settings;
    settings.log = [](const log_record& record) {
        if (record.level == log_level::debug) return;
        const std::string where = record.node.empty() ? "" : std::string(record.node) + ": ";
        say(where + in_our_words(record.message));
    };
    return settings;
}

/// Says what it waits for.
bool talks(const run_options& options) { return options.verbose || ::isatty(STDERR_FILENO) != 0; }

/// One run, from the wait to the release.
class locked_run {
  public:
    locked_run(const run_options& options, signal_queue& signals, supervised_command& command,
               run_report& report)
        : options_(options), signals_(signals), command_(command), report_(report) {}

    int perform(const holdfast::options& settings) {
        client through(settings);
        const bool talk = talks(options_);
        wait_result waited = wait_for_lock(through, options_.wish(), options_.wait, signals_, talk);
        report_.waited = waited.waited;
        if (waited.interrupted_by != 0) return interrupted(waited.interrupted_by);
        if (!waited.held) {
            refuse_quarantine(through, options_.keys(), waited);
            return not_acquired(waited, talk);
        }
        return with_lock(through, *waited.held);
    }

    /// Ctrl-C, or whoever else sends SIGINT, ended the wait or the command.
    [[nodiscard]] bool ended_by_interrupt() const { return interrupted_by_ == SIGINT; }

  private:
    void say_if_verbose(const std::string& what) const {
        if (options_.verbose) say(options_.name() + ": " + what);
    }

    int interrupted(int signal) {
        report_.outcome = "interrupted";
        interrupted_by_ = signal;
        return exit_code::signal_base + signal;
    }

    int not_acquired(const wait_result& waited, bool talk) {
        report_.outcome = "not_acquired";
        if (talk) say_who_has_it(options_.keys(), waited);
        return options_.conflict_exit_code.value_or(exit_code::not_acquired);
    }

    int with_lock(client& through, lease& held) {
        report_.token = held.token();
        acquired_at_ = clock::now();
        say_if_verbose("acquired after " + in_words(report_.waited) + ", token " +
                       std::to_string(report_.token) + ", for " +
                       format_duration(options_.lease_ttl()) + " at a time");
        // A signal that came with the lock, or after it: there is no command yet to forward it to.
        while (const auto signal = signals_.next()) {
            if (!is_ending(*signal)) continue;
            tell_of_end(through, release(held));
            return interrupted(*signal);
        }
        auto at_most = clock::time_point::max();
        if (options_.at_most) at_most = acquired_at_ + *options_.at_most;
        // We may have stood still since, and somebody else may hold the lock by now.
        if (held.lost()) return too_late(through, held);
        const auto [status, stopped_for, ended_before_stop, asked_to_end, suspended, error] =
            command_.run(held, environment_of(options_, held), at_most);
        if (error == ETIME) return too_late(through, held);
        if (error != 0) return not_started(through, held, error);
        report_.child_exit =
            WIFSIGNALED(status) ? exit_code::signal_base + WTERMSIG(status) : WEXITSTATUS(status);
        if (WIFSIGNALED(status)) interrupted_by_ = WTERMSIG(status);
        if (stopped_for == stop_schedule::cause::loss) return lost(through, held, suspended);
        const bool stopped = stopped_for == stop_schedule::cause::at_most;
        report_.outcome = stopped ? "stopped" : "completed";
        // Without its supervisor it is stopped earlier, or where there is no such limit.
        if (stopped && options_.at_most && clock::now() >= at_most) {
            say((ended_before_stop ? "what the command left behind" : "the command") +
                std::string(" was stopped after --at-most ") + format_duration(*options_.at_most));
        }
        const bool ended_by_signal =
            asked_to_end || (!stopped && WIFSIGNALED(status) && is_ending(WTERMSIG(status)));
        return finished(through, held, ended_by_signal);
    }

    int too_late(client& through, lease& held) {
        tell_of_end(through, release(held));
        report_.outcome = "lost";
        say(options_.named() + " was lost before the command was started, so it was not run");
        return exit_code::lost;
    }

    int not_started(client& through, lease& held, int error) {
        tell_of_end(through, release(held));
        report_.outcome = "not_started";
        const std::string& program =
            options_.command.empty() ? "/bin/sh" : options_.command.front();
        say(printable(program) + ": " + std::strerror(error));
        return error == ENOENT ? exit_code::not_found : exit_code::not_executable;
    }

    int lost(client& through, lease& held, clock::duration suspended) {
        const bool known_gone = is_known_gone(held);
        const release_result found = release(held);
        tell_of_end(through, found);
        report_.outcome = "lost";
        const std::string why = known_gone || is_gone(held, found)
                                    ? taken_in_words(through)
                                    : unconfirmed_in_words(through, found, suspended);
        say(options_.named() + " could not be kept; the command was stopped: " + why);
        return exit_code::lost;
    }

    /// A renewal was told so: nothing else makes a lease lost before its deadline.
    static bool is_known_gone(const lease& held) {
        return held.lost() && clock::now() < held.valid_until();
    }

    /// The servers did not have it although it had not run out. After the deadline it may have.
    static bool is_gone(const lease& held, release_result found) {
        return found == release_result::already_lost && clock::now() < held.valid_until();
    }

    [[nodiscard]] std::string taken_in_words(client& through) const {
        try {
            for (const auto& key : options_.keys()) {
                const lock_status now = inspect(through, key);
                if (!now.held_by) continue;
                const bool only = options_.other_keys.empty();
                return "somebody removed or took it; " +
                       (only ? "it" : "'" + printable(key) + "'") + " is held by " +
                       holder_in_words(*now.held_by) + " now";
            }
        } catch (const std::system_error&) {
            return "the servers no longer had it for us";
        }
        return "its key is gone: " + forced_in_words(through);
    }

    /// Somebody may have left a note since.
    [[nodiscard]] std::string forced_in_words(client& through) const {
        std::string unknown = "somebody removed it, or the server forgot it";
        try {
            const auto held_since =
                std::chrono::system_clock::now() - (clock::now() - acquired_at_);
            for (const auto& key : options_.keys()) {
                const auto last = last_forced(through, key);
                // The server's clock is another, and counts in seconds.
                if (!last || last->at + 2s < held_since) continue;
                return printable(last->by) + " took it away by force: " + printable(last->reason);
            }
            return unknown;
        } catch (const std::system_error&) {
            return unknown;
        }
    }

    static std::string unconfirmed_in_words(const client& through, release_result found,
                                            clock::duration suspended) {
        if (suspended != clock::duration{0}) {
            return "holdfast itself was stopped for " + in_words(suspended) +
                   ", and could not renew it";
        }
        const bool one = through.settings().urls.size() == 1;
        const std::string whom = one ? "the server" : "a majority of the servers";
        return "no renewal was confirmed in time by " + whom +
               (found == release_result::unknown ? ", nor the release now" : "");
    }

    /// Only the servers know, and a renewal may not have asked them since it was taken away. While
    /// they cannot be asked the lease stands.
    static bool is_still_ours(const lease& held) {
        std::error_code unknown;
        return held.verify(unknown) || unknown;
    }

    int finished(client& through, lease& held, bool ended_by_signal) {
        const auto until = acquired_at_ + options_.at_least.value_or(0ms);
        const bool early = clock::now() < until;
        if (early && !is_still_ours(held)) {
            const auto found = release(held);
            tell_of_end(through, found);
            return gone_before_the_end(through, held, found);
        }
        const bool leave = early && (ended_by_signal || !sleep_until(until, held));
        const auto found =
            leave ? leave_behind(through, held, until) : release_or_hear_why(through, held);
        tell_of_end(through, found, leave);
        if (found != release_result::already_lost) return *report_.child_exit;
        if (early) {
            say(options_.named() + " was lost after the command had ended");
            return *report_.child_exit;
        }
        return gone_before_the_end(through, held, found);
    }

    int gone_before_the_end(client& through, const lease& held, release_result found) {
        report_.outcome = "lost";
        const std::string why = is_gone(held, found) ? ": " + taken_in_words(through) : "";
        say(options_.named() + " was gone before the command had ended with " +
            std::to_string(*report_.child_exit) + why);
        return exit_code::lost;
    }

    void tell_of_end(client& through, release_result found, bool left_behind = false) const {
        say_if_verbose(end_in_words(found, left_behind) + ", held for " + in_words(report_.held) +
                       ", renewed " + std::to_string(through.statistics().renewed) + " times");
        if (found != release_result::unknown || left_behind) return;
        say("the release of " + options_.name() + " was not confirmed" + why_unconfirmed_ +
            "; the lock ends by itself within " + format_duration(options_.lease_ttl()));
    }

    static std::string end_in_words(release_result found, bool left_behind) {
        switch (found) {
            case release_result::released: return left_behind ? "left for --at-least" : "released";
            case release_result::already_lost: return "not released, as it was gone";
            case release_result::unknown: break;
        }
        return "perhaps not released";
    }

    /// False: a signal asked us to end.
    bool sleep_until(clock::time_point when, const lease& held) {
        while (clock::now() < when && !held.lost()) {
            const auto left = std::chrono::ceil<milliseconds>(when - clock::now());
            pollfd watched{signals_.readable(), POLLIN, 0};
            ::poll(&watched, 1, static_cast<int>(std::min(left, milliseconds(1s)).count()));
            while (const auto signal = signals_.next()) {
                if (is_ending(*signal)) return false;
            }
        }
        return true;
    }

    /// A signal ends the wait, not the promise: the lock stays until then, by itself. What is left
    /// of it may be longer than max_ttl, because nobody believes in it any more.
    release_result leave_behind(client& through, lease& held, clock::time_point until) {
        report_.held = clock::now() - acquired_at_;
        held.detach();
        const auto left = std::chrono::ceil<milliseconds>(until - clock::now());
        try {
            bool stays = true;
            for (const auto& key : options_.keys()) {
                stays = linger(through, key, held.owner(), std::max(left, 1ms)) && stays;
            }
            return stays ? release_result::released : release_result::already_lost;
        } catch (const std::system_error& error) {
            say(options_.named() +
                " could not be left for --at-least; it ends with its ttl: " + in_our_words(error));
            return release_result::unknown;
        }
    }

    release_result release(lease& held) {
        report_.held = clock::now() - acquired_at_;
        return held.release();
    }

    /// Whoever releases by the owner token is told why that cannot be; a lease is not. Nothing said
    /// by the servers: one of the two requests has ended it.
    release_result release_or_hear_why(client& through, lease& held) {
        const std::string owner = held.owner();
        const auto found = release(held);
        if (found != release_result::unknown) return found;
        try {
            for (const auto& key : options_.keys()) (void)unlock(through, key, owner);
            return release_result::released;
        } catch (const std::system_error& error) {
            why_unconfirmed_ = ": " + in_our_words(error);
            return found;
        }
    }

    const run_options& options_;
    signal_queue& signals_;
    supervised_command& command_;
    run_report& report_;
    clock::time_point acquired_at_;
    int interrupted_by_ = 0;
    std::string why_unconfirmed_;  // ": SERVER: ..."; empty: not known
};

}  // namespace

int run(arguments given) { return run_locked(parse_run(given)); }

int run_locked(const run_options& options) {
    int code = exit_code::done;
    bool interrupted = false;
    {
        run_report report(options.status_fd);
        // Before signals are queued: starting a local server can be interrupted like anything else.
        const holdfast::options settings = settings_of(options);
        signal_queue signals;
        // Before there are threads, and while we have nothing else to wait for.
        supervised_command command(supervision_of(options), signals, talks(options));
        locked_run one(options, signals, command, report);
        code = one.perform(settings);
        interrupted = one.ended_by_interrupt();
    }
    if (interrupted && code == exit_code::signal_base + SIGINT) die_of_interrupt();
    return code;
}

}  // namespace holdfast::tool
