#pragma once

#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// Looks at every connected node once a second, so that core::judge sees when a server's clock
/// jumps, when it is another life of the server by now, when somebody vouched for one in
/// quarantine, and when others agreed on another max_ttl. Runs where the client's votes depend on
/// it: with the restart guard.
class heartbeat final : private timer {
  public:
    explicit heartbeat(engine& through) : engine_(through) {}

    /// Whenever a node is connected. One that comes and goes must not put off the looks at the
    /// others.
    void start(core::time_point now) HOLDFAST_LOCKED;
    void stop() HOLDFAST_LOCKED;

  private:
    void due(core::time_point now) noexcept override HOLDFAST_LOCKED;
    void look_at_all(core::time_point now) HOLDFAST_LOCKED;

    engine& engine_;
    bool beats_ = false;
};

}  // namespace holdfast::runtime
