#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "connection.hpp"
#include "waiting.hpp"

namespace holdfast::tool {

/// The command line of `holdfast run`.
struct run_options {
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
    std::vector<std::string> command;

    [[nodiscard]] std::chrono::milliseconds lease_ttl() const;
    [[nodiscard]] std::chrono::milliseconds grace() const;
    [[nodiscard]] lock_kind kind() const {
        if (permits) return lock_kind::permit;
        return shared ? lock_kind::shared : lock_kind::exclusive;
    }
    [[nodiscard]] lock_request wish() const {
        return {key, kind(), lease(), static_cast<std::uint32_t>(permits.value_or(0))};
    }
    /// How the lock is to be taken, so that a loss is announced in time to stop the command.
    [[nodiscard]] acquire_options lease() const;
};

/// Options end at the first positional; `--` is accepted before the key and before the command.
/// Throws failure with exit code 64, or help_wanted.
run_options parse_run(arguments given);

}  // namespace holdfast::tool
