#pragma once

#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// Asks every connected node for its TIME once a second, so that core::judge sees when a server's
/// clock jumps. Runs while the client's votes depend on it: with a quorum, or a restart guard.
class heartbeat final : private timer {
  public:
    explicit heartbeat(engine& through) : engine_(through) {}

    void start(core::time_point now);
    void stop();

  private:
    void due(core::time_point now) override;

    engine& engine_;
};

}  // namespace holdfast::runtime
