#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <vector>

#include "core/time.hpp"
#include "runtime/driving/timer_queue.hpp"

namespace holdfast::runtime {

class attempt;
class engine;

/// Lets the first attempts of a client wait until every node of the quorum was tried once, so that
/// two of them that are one server, or a master and its replica, are known before anybody votes.
///
///   state     meaning                                   left when
///   idle      nobody has asked for a vote yet           an attempt waits; all were tried
///   calling   every node is tried, attempts wait        all were tried; a node timeout is over
///   over      nobody has to wait any more
///
/// A silent node is waited for once in the life of a client, and for no longer than for its vote.
/// Everything is called with the client's lock held.
class membership_check final : private timer {
  public:
    explicit membership_check(engine& through);
    ~membership_check() override;

    [[nodiscard]] bool over() const HOLDFAST_LOCKED { return state_ == state::over; }

    /// Resumes it once this is over. Throws std::bad_alloc, and then it does not wait.
    /// REQUIRES: not over.
    void wait(boost::intrusive_ptr<attempt> who, core::time_point now) HOLDFAST_LOCKED;

    /// A node was reached, or could not be.
    void heard() noexcept HOLDFAST_LOCKED;

    /// Resumes who waits.
    void end(core::time_point now) noexcept HOLDFAST_LOCKED;

    /// Resumes nobody. REQUIRES: nobody waits.
    void stop() noexcept HOLDFAST_LOCKED;

  private:
    enum class state : std::uint8_t { idle, calling, over };

    void due(core::time_point now) noexcept override HOLDFAST_LOCKED { end(now); }
    void call(core::time_point now) noexcept HOLDFAST_LOCKED;

    engine& engine_;
    state state_ = state::idle;
    std::vector<boost::intrusive_ptr<attempt>> waiting_;
};

}  // namespace holdfast::runtime
