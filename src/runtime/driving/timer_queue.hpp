#pragma once

#include <cstddef>
#include <vector>

#include "base/locks.hpp"
#include "core/time.hpp"

namespace holdfast::runtime {

/// Something that wants to be called at a time. Whoever owns it cancels it before it is destroyed:
/// it does not know its queue.
class timer {
  public:
    timer() = default;
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

    /// Called once, with the client's lock held; may set itself again.
    virtual void due(core::time_point now) noexcept HOLDFAST_LOCKED = 0;

  protected:
    virtual ~timer() = default;  // REQUIRES: not in a queue

  private:
    friend class timer_queue;
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

    core::time_point at_{};
    std::size_t place_ = nowhere;
};

/// A binary heap of timers that know their own place: setting and cancelling cost a logarithm.
///
/// Who will set a timer says so once, and has a place from then on: a lease must be renewed, and
/// its loss announced, also when memory is short.
class timer_queue {
  public:
    /// Makes room for one more, so that the next enroll() does not throw. Throws
    /// std::bad_alloc.
    void reserve();
    /// One more timer, or one less. Throws std::bad_alloc.
    void enroll() {
        reserve();
        ++enrolled_;
    }
    void withdraw() noexcept { --enrolled_; }

    /// Sets or moves. `core::never` cancels. REQUIRES: enrolled.
    void set(timer& which, core::time_point when) noexcept;
    void cancel(timer& which) noexcept;

    [[nodiscard]] core::time_point next() const {
        return heap_.empty() ? core::never : heap_.front()->at_;
    }

    /// Calls everything that is due by `now`.
    void fire(core::time_point now) noexcept HOLDFAST_LOCKED;

  private:
    void put(std::size_t place, timer* which);
    void rise(std::size_t place);
    void sink(std::size_t place);

    std::vector<timer*> heap_;
    std::size_t enrolled_ = 0;  // at most as many as the heap has room for
};

}  // namespace holdfast::runtime
