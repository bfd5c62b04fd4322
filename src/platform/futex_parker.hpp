#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "core/time.hpp"
#include "runtime/driving/driver.hpp"

namespace holdfast::platform {

/// What a thread sleeps on: unpark() gives it a permit, which the next park takes. Called without
/// the client's lock: a thread that is woken while the lock is held would only wait again, for the
/// lock. One permit too many costs a look around, never more, so a parker belongs to the thread and
/// not to what the thread waits for.
///
/// Thirty-two of them share one futex, so that one system call wakes many threads: when each has a
/// call of its own, the first one awake pushes whoever wakes them off the core. (The standard's
/// semaphores would not do in any case: they spin and yield before they sleep, and whether that
/// pays is for spin_policy to say.)
class futex_parker final : public runtime::parker {
  public:
    static std::shared_ptr<futex_parker> of_this_thread();
    static void unpark_all(std::span<const std::shared_ptr<futex_parker>> all) noexcept;

    futex_parker();
    ~futex_parker() override;
    futex_parker(const futex_parker&) = delete;
    futex_parker& operator=(const futex_parker&) = delete;

    void unpark();

    /// Whether there was one since the last was taken.
    bool take_permit();

    /// Returns when there is a permit, and takes it; or false if `when` came first.
    bool park_until(core::time_point when);

  private:
    struct futex_word {
        std::atomic<std::uint32_t> wakes = 0;
        void wake(std::uint32_t which);
    };
    class slot_list;

    static slot_list& slots();

    futex_word* word_ = nullptr;
    std::uint32_t bit_ = 0;
    std::atomic<bool> permit_ = false;
    std::atomic<bool> parked_ = false;  // or about to be: unpark() takes a system call
};

}  // namespace holdfast::platform
