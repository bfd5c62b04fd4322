#include "stopper.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;

// Whoever forked while we looked is found by the next look.
constexpr auto look_again_every = 2ms;
// A killed process that is still there sleeps in the kernel, and runs no more code of its own; or
// it is another user's, and beyond our reach.
constexpr auto killed_processes_leave_within = 500ms;

}  // namespace

clock::time_point stopper::act(const stop_schedule::lease_view& lease, clock::time_point now) {
    const auto decision = schedule_.due(lease, now);
    // Among many who are to be ended, whoever ends them must get its turn. Where that is not
    // permitted it has to do without.
    if (decision.what != stop_schedule::action::none) ::setpriority(PRIO_PROCESS, 0, -20);
    if (decision.what == stop_schedule::action::terminate) {
        whom_.signal_all(SIGTERM);
        whom_.signal_all(SIGCONT);
    }
    if (schedule_.current() != stop_schedule::state::killed) return decision.wake_at;
    kill(now);
    return now + look_again_every;
}

// As long as new ones turn up there is somebody who makes them, and who can be killed.
void stopper::kill(clock::time_point now) {
    std::vector<pid_t> reached = whom_.signal_all(SIGKILL);
    std::sort(reached.begin(), reached.end());
    const bool first = give_up_at_ == clock::time_point::max();
    if (first || !std::includes(killed_.begin(), killed_.end(), reached.begin(), reached.end())) {
        give_up_at_ = now + killed_processes_leave_within;
    }
    killed_ = std::move(reached);
}

bool stopper::finished(clock::time_point now) const {
    return !running() && (whom_.all_ended() || now >= give_up_at_);
}

}  // namespace holdfast::tool
