#pragma once

#include <string>
#include <vector>

#include "child.hpp"
#include "control_group.hpp"
#include "descriptor.hpp"
#include "signal_queue.hpp"
#include "stop_schedule.hpp"
#include "stopper.hpp"
#include "supervisor_link.hpp"

namespace holdfast::tool {

/// What the supervisor has to know before it is told to start.
struct supervision {
    std::vector<std::string> arguments;  // of the command
    clock::duration kill_after{};
    bool wait_all = false;  // not over before all descendants of the command have ended
};

/// The process between `holdfast` and its command: stays with the command from its start to its
/// end, and ends it with all its descendants before the lease does. It needs no other process for
/// that: it knows the deadline, and notices at once when `holdfast` is no more.
///
/// The deadline is compared with the clock in every turn of the loop, and the timer runs on the
/// lease's clock, which counts suspend. So the command is stopped in time even if nobody says that
/// renewals fail, because nobody can.
///
/// It is in a group of its own, and goes by another name than `holdfast`: whoever kills that by its
/// job or its name does not kill both. It ignores the signals that are forwarded.
///
/// REQUIRES: a process of its own, made by fork() while there was one thread, with the signals of a
/// signal_queue blocked.
class supervisor {
  public:
    supervisor(supervision what, descriptor line, const signal_queue& signals);

    /// Returns when all is over.
    void serve();

  private:
    bool start_command();
    void watch();
    bool take_order();
    void pass_on(int signal);
    /// False: the command could not be started.
    bool tell_of_start();
    void tell_of_stop();
    void tell_of_end();
    clock::time_point stop_when_due(clock::time_point now);
    void wake_late_sleepers(clock::time_point now);
    [[nodiscard]] bool over() const;
    void sleep_until(clock::time_point when);
    void close_all_but_our_own() const;

    supervision what_;
    supervisor_link line_;
    const signal_queue& signals_;
    descriptor child_event_;
    descriptor timer_;
    std::optional<control_group> group_;

    child_start start_;  // its outcome is open until it is known
    std::optional<descendants> family_;
    std::optional<stopper> stop_;
    stop_schedule::lease_view lease_;
    unsigned signals_delivered_ = 0;
    bool held_still_ = false;  // stopped by order: no news
    bool end_told_ = false;
    bool ended_before_stop_ = false;
    clock::duration sleeper_pause_{};
    clock::time_point look_for_sleepers_at_ = clock::time_point::max();
};

}  // namespace holdfast::tool
