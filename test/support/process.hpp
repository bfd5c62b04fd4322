#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/file_descriptor.hpp"

namespace holdfast::test {

/// Where one of the standard streams of a child leads.
struct redirect {
    enum class kind { inherit, null, file, capture, pipe };

    static redirect inherit() { return {kind::inherit, {}}; }
    static redirect null() { return {kind::null, {}}; }
    /// Read from (input) or appended to (output, error).
    static redirect file(const std::filesystem::path& path) { return {kind::file, path.native()}; }
    /// Into memory: read it with process::output() and process::error_output().
    static redirect capture() { return {kind::capture, {}}; }
    /// As input: the child reads this text and then the end.
    static redirect text(std::string input) { return {kind::capture, std::move(input)}; }
    static redirect pipe() { return {kind::pipe, {}}; }

    kind to;
    std::string detail;  // the path of `file`, the text of `text`
};

using environment_variables = std::map<std::string, std::string>;

struct process_options {
    std::vector<std::string> arguments;   // arguments[0] is the program, looked up in $PATH
    environment_variables environment{};  // added to this process's own
    std::filesystem::path working_directory{};
    redirect input = redirect::null();
    redirect output = redirect::inherit();
    redirect error = redirect::inherit();
    bool own_process_group = false;  // kill() then reaches the children of the child too
};

/// How a process ended: `code` when it exited, otherwise the `signal` that ended it.
struct exit_status {
    int code = 0;
    int signal = 0;

    bool success() const { return code == 0 && signal == 0; }
    bool operator==(const exit_status&) const = default;
};

std::string to_string(exit_status status);

/// A child process that never outlives its owner: the destructor kills and reaps it, and the kernel
/// kills it should this process die without running destructors.
///
/// The kernel ties that to the *thread* that forked; all children are therefore forked by one
/// thread that lives as long as this process, and a process may be started from any thread.
/// Only standard streams are inherited, and no signal mask.
///
/// Thread safety: distinct objects safe; one object from one thread at a time.
/// Errors: std::runtime_error, also when the program could not be executed.
class process {
  public:
    explicit process(const process_options& options);
    ~process();

    process(process&&) noexcept = default;
    process& operator=(process&& other) noexcept;

    pid_t id() const noexcept { return id_; }
    bool running() { return !wait_for(std::chrono::milliseconds{0}).has_value(); }

    /// To the process, or to its group if it has its own. Does nothing once it has been seen to
    /// end.
    void kill(int signal);

    /// SIGSTOP, returning when every thread of the process has stopped; and SIGCONT.
    void pause();
    void resume();

    /// The exit status, or nothing while the process still runs after `bound`.
    std::optional<exit_status> wait_for(std::chrono::milliseconds bound);
    /// As wait_for, but throws when the process still runs after `bound`.
    exit_status wait(std::chrono::milliseconds bound);

    /// What the process has written so far. REQUIRES: redirect::capture().
    std::string output() const;
    std::string error_output() const;

    /// REQUIRES: redirect::pipe() as input. Throws when the child no longer reads.
    void write(std::string_view text);
    void close_input() { input_.reset(); }

    /// A line without its end, or nothing at the end of the output or when `bound` passed.
    /// REQUIRES: redirect::pipe() as output.
    std::optional<std::string> read_line(std::chrono::milliseconds bound);

  private:
    void end() noexcept;

    std::string program_;
    bool own_group_ = false;
    pid_t id_ = -1;
    file_descriptor handle_;  // a pidfd: names this process even after its number is used again
    std::optional<exit_status> ended_;
    bool reaped_ = false;
    file_descriptor input_;
    file_descriptor output_;
    file_descriptor error_;
    std::string unread_;  // of a piped output: read, but not yet a whole line
};

struct command_result {
    int exit_code = 0;  // as a shell gives it: 128 + number for a process ended by a signal
    std::string out;
    std::string err;
};

struct command_options {
    environment_variables environment{};
    std::string input{};
    std::filesystem::path working_directory{};
    std::chrono::milliseconds timeout{std::chrono::seconds{30}};
};

/// Runs a command to its end. Throws, after killing it and its children, when the timeout passes.
command_result run_command(std::vector<std::string> arguments, const command_options& options = {});

}  // namespace holdfast::test
