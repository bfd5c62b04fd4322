#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "connection.hpp"
#include "waiting.hpp"

namespace holdfast::tool {

/// The command line of `holdfast run`, or of `holdfast elect` with a command.
struct run_options {
    bool elects = false;
    std::string value;  // of a candidate
    wait_options wait;
    connection server;
    std::optional<int> conflict_exit_code;
    std::string shell_command;
    std::optional<std::chrono::milliseconds> ttl, at_least, at_most, kill_after;
    bool wait_all = false;
    bool shared = false;
    std::optional<int> permits;
    bool exclusive = false;  // or neither: that is the default
    std::string label;
    bool fair = false;
    std::optional<int> status_fd;
    bool verbose = false;

    std::string key;
    std::vector<std::string> other_keys;  // -k: along with it, or not at all
    std::vector<std::string> command;

    [[nodiscard]] std::chrono::milliseconds lease_ttl() const;
    [[nodiscard]] std::chrono::milliseconds grace() const;
    /// Every one, the first first.
    [[nodiscard]] std::vector<std::string> keys() const;
    /// For messages: `'a', 'b'`.
    [[nodiscard]] std::string name() const;
    [[nodiscard]] lock_kind kind() const {
        if (elects) return lock_kind::election;
        if (permits) return lock_kind::permit;
        return shared ? lock_kind::shared : lock_kind::exclusive;
    }
    [[nodiscard]] lock_request wish() const {
        return {keys(), kind(), lease(), value, static_cast<std::uint32_t>(permits.value_or(0))};
    }
    /// `the lock 'nightly'`, or `the lead of 'nightly'`.
    [[nodiscard]] std::string named() const;
    /// How the lock is to be taken, so that a loss is announced in time to stop the command.
    [[nodiscard]] acquire_options lease() const;
};

/// Options end at the first positional; `--` is accepted before the key and before the command.
/// Throws failure with exit code 64, or help_wanted.
run_options parse_run(arguments given);

/// What follows the options of a command that runs another: KEY [--] COMMAND [ARG...]. `verb`: of
/// that command, for errors.
void split_command(run_options& options, arguments rest, const std::string& verb,
                   const std::string& key_name);
/// Throws failure with exit code 64 where the options do not fit together.
void check(const run_options& options, const std::string& verb);

/// One run, from the wait to the release. Returns the exit code.
int run_locked(const run_options& options);

}  // namespace holdfast::tool
