#pragma once

#include <csignal>
#include <initializer_list>
#include <optional>

#include "descriptor.hpp"

namespace holdfast::tool {

/// The signals that ask the tool to end, and that `run` forwards to the command.
inline constexpr std::initializer_list<int> ending_signals = {SIGINT,  SIGTERM, SIGHUP,
                                                              SIGQUIT, SIGUSR1, SIGUSR2};

bool is_ending(int signal);

/// Signals as something to read instead of something that interrupts: blocked, and queued in a
/// descriptor. Nothing is missed and nothing races, whatever runs when they arrive.
///
/// Signals that were ignored when the tool started (nohup, background jobs of scripts) stay so and
/// are not queued. SIGCHLD always is. SIGPIPE is ignored: a closed pipe is an error to handle.
/// What nobody has read when the queue ends has nothing left to end, and changes no exit code.
///
/// REQUIRES: made before any thread is, and one at a time: threads inherit the mask.
class signal_queue {
  public:
    signal_queue();
    ~signal_queue();
    signal_queue(const signal_queue&) = delete;
    signal_queue& operator=(const signal_queue&) = delete;

    [[nodiscard]] int readable() const { return descriptor_.get(); }
    [[nodiscard]] std::optional<int> next();

    /// Stops this process as a SIGTSTP that is not queued would: not where nobody could let it go
    /// on. Returns when it goes on.
    void suspend() const noexcept;

    /// Gives a forked child the mask and dispositions that this process started with.
    /// Async-signal-safe.
    void restore() const noexcept;

  private:
    sigset_t previous_mask_{};
    struct sigaction previous_child_ {};
    struct sigaction previous_pipe_ {};
    descriptor descriptor_;
};

}  // namespace holdfast::tool
