#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

#include "descriptor.hpp"
#include "holdfast/lease.hpp"
#include "signal_queue.hpp"
#include "stop_schedule.hpp"
#include "terminal_loan.hpp"

namespace holdfast::tool {

/// Stays with a command from its start to its end, and ends it before the lease does.
///
/// The deadline is read from the lease and the clock in every turn of the loop, and the timer runs
/// on the lease's clock, which counts suspend. So the command is stopped in time even if nobody
/// tells us that renewals fail.
///
/// REQUIRES: used by the thread that started the command.
class supervisor {
  public:
    supervisor(const lease& held, pid_t command, signal_queue& signals, stop_schedule schedule);

    /// Returns the wait status of the command when it has ended; after a stop, when its whole group
    /// has.
    int watch();

    [[nodiscard]] stop_schedule::cause stopped_for() const { return schedule_.why(); }

  private:
    [[nodiscard]] bool finished();
    void act(stop_schedule::action what);
    void pass_on_signals();
    void collect();
    void react_to_stop(int signal);
    void suspend_together();
    void signal_group(int signal) const;
    [[nodiscard]] bool group_is_empty() const;
    void sleep_until(clock::time_point when);

    const lease& lease_;
    pid_t group_;
    signal_queue& signals_;
    stop_schedule schedule_;
    terminal_loan terminal_;
    std::optional<int> status_;
    clock::time_point give_up_at_ = clock::time_point::max();
    std::stop_token loss_;
    descriptor loss_event_;
    descriptor timer_;
};

}  // namespace holdfast::tool
