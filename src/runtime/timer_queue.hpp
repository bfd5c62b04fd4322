#pragma once

#include <cstddef>
#include <vector>

#include "core/time.hpp"

namespace holdfast::runtime {

/// Something that wants to be called at a time. It leaves the queue when it is destroyed.
class timer {
  public:
    timer() = default;
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

    /// Called once, with the client's lock held; may set itself again.
    virtual void due(core::time_point now) = 0;

  protected:
    virtual ~timer() = default;  // REQUIRES: not in a queue

  private:
    friend class timer_queue;
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

    core::time_point at_{};
    std::size_t place_ = nowhere;
};

/// A binary heap of timers that know their own place: setting and cancelling allocate nothing but
/// the heap's own growth, and cost a logarithm.
class timer_queue {
  public:
    /// Sets or moves. `core::never` cancels.
    void set(timer& which, core::time_point when);
    void cancel(timer& which);

    [[nodiscard]] core::time_point next() const {
        return heap_.empty() ? core::never : heap_.front()->at_;
    }

    /// Calls everything that is due by `now`.
    void fire(core::time_point now);

  private:
    void put(std::size_t place, timer* which);
    void rise(std::size_t place);
    void sink(std::size_t place);

    std::vector<timer*> heap_;
};

}  // namespace holdfast::runtime
