#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "core/time.hpp"
#include "runtime/driver.hpp"

namespace holdfast::platform {

/// What a thread sleeps on. Rung without the client's lock: a thread that is woken while the lock
/// is held would only wait again, for the lock. One ring too many costs a look around, never more,
/// so a bell belongs to the thread and not to what the thread waits for.
///
/// Thirty-two bells hang in a tower, which is one futex, so that one system call wakes many
/// threads: when each has a call of its own, the first one awake pushes the ringer off the core.
/// (The standard's semaphores would not do in any case: they spin and yield before they sleep, and
/// whether that pays is for `crowd` to say.)
class bell final : public runtime::parker {
  public:
    static std::shared_ptr<bell> of_this_thread();
    static void ring_all(std::span<const std::shared_ptr<bell>> bells) noexcept;

    bell();
    ~bell() override;
    bell(const bell&) = delete;
    bell& operator=(const bell&) = delete;

    void ring();

    /// Whether it was rung since it was last heard.
    bool heard();

    /// Returns when it is rung, or false if `when` came first.
    bool sleep_until(core::time_point when);

  private:
    struct tower {
        std::atomic<std::uint32_t> strokes = 0;
        void wake(std::uint32_t which);
    };
    class place_list;

    static place_list& places();

    tower* tower_ = nullptr;
    std::uint32_t bit_ = 0;
    std::atomic<bool> rung_ = false;
    std::atomic<bool> asleep_ = false;  // or about to be: ringing takes a system call
};

}  // namespace holdfast::platform
