#pragma once

#include <sys/types.h>

#include <vector>

#include "descendants.hpp"
#include "stop_schedule.hpp"

namespace holdfast::tool {

/// Carries out a stop_schedule on a command and all its descendants.
class stopper {
  public:
    stopper(descendants& whom, stop_schedule schedule) : whom_(whom), schedule_(schedule) {}

    /// Does what is due, and returns when to be asked again at the latest.
    clock::time_point act(const stop_schedule::lease_view& lease, clock::time_point now);

    /// Somebody wants them to end: the next act() begins with it.
    void request() { schedule_.request(); }

    [[nodiscard]] bool running() const {
        return schedule_.current() == stop_schedule::state::running;
    }
    [[nodiscard]] stop_schedule::cause why() const { return schedule_.why(); }

    /// All have ended, or the rest cannot be ended.
    [[nodiscard]] bool finished(clock::time_point now) const;

  private:
    void kill(clock::time_point now);

    descendants& whom_;
    stop_schedule schedule_;
    std::vector<pid_t> killed_;
    clock::time_point give_up_at_ = clock::time_point::max();
};

}  // namespace holdfast::tool
