#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "descriptor.hpp"
#include "holdfast/lease.hpp"
#include "signal_queue.hpp"
#include "supervisor.hpp"
#include "supervisor_link.hpp"
#include "terminal_loan.hpp"

namespace holdfast::tool {

struct command_end {
    int status = 0;  // as from waitpid
    stop_schedule::cause stopped_for = stop_schedule::cause::none;
    bool ended_before_stop = false;  // by itself: what was stopped are its descendants
    bool asked_to_end = false;       // a signal that asks us to end was passed on to it
    clock::duration suspended{};     // how long we were stopped, if that was too long for the lease
    int not_started = 0;  // the errno that kept it from running; ETIME: the lease was over
};

/// A command as `holdfast` sees it, through its supervisor: tells it how the lease stands, forwards
/// signals, lends the terminal, and stops and goes on with the command. Shells let background jobs
/// ignore INT and QUIT: the second of these that finds the command ended, and others left, ends
/// them.
///
/// Should the supervisor be killed, or not do its work, this process takes its place and ends all
/// descendants of the command.
///
/// REQUIRES: made while the process has one thread. The destructor does not wait; a command that
/// is still there then is ended by its supervisor.
class supervised_command {
  public:
    /// `talks`: says for whom it waits once the command has ended.
    supervised_command(supervision what, signal_queue& signals, bool talks);
    ~supervised_command() = default;
    supervised_command(const supervised_command&) = delete;
    supervised_command& operator=(const supervised_command&) = delete;

    /// Runs the command under the lease, unless that is over before. Returns when the command has
    /// ended; after a stop, and with `wait_all`, when all its descendants have.
    /// Errors: std::system_error if there is no supervisor any more to start it.
    command_end run(const lease& held, const std::vector<std::string>& environment,
                    clock::time_point at_most);

  private:
    command_end watch();
    void take_reports();
    void hear(const report& news);
    void tell_lease();
    void pass_on_signals();
    void pass_on(int signal);
    void tell_of_descendants();
    [[nodiscard]] bool wants_terminal(int stopped_by) const;
    void react_to_stop(int signal);
    void lend_terminal_if_wanted();
    void suspend_together();
    void order_signal(int signal) const;
    void return_undelivered();
    void keep_supervisor_going() const;
    [[nodiscard]] bool supervisor_failed() const;
    void end_supervisor() const;
    void take_over();
    void sleep();

    clock::duration kill_after_;
    bool talks_;
    signal_queue& signals_;
    supervisor_link line_;
    std::vector<pid_t> other_children_ = descendants::children_of_this_process();  // none of its
    const lease* lease_ = nullptr;
    pid_t supervisor_ = -1;
    pid_t command_ = -1;
    terminal_loan terminal_;
    descriptor loss_event_;

    stop_schedule::lease_view told_;
    std::vector<int> forwarded_;
    unsigned delivered_ = 0;
    clock::duration suspended_{};
    bool wants_terminal_ = false;
    bool said_so_ = false;
    std::optional<int> status_;
    clock::time_point tell_of_descendants_at_ = clock::time_point::max();
    int interrupts_since_end_ = 0;
    std::optional<command_end> end_;
};

}  // namespace holdfast::tool
