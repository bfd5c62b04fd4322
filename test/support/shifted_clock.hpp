#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "support/process.hpp"
#include "support/scratch_directory.hpp"

namespace holdfast::test {

/// The wall clock of other processes, to be set by the test while they run. It starts at the true
/// time. Their monotonic clocks stay true, and so do all clocks of this process.
///
///   shifted_clock clock;
///   redis_server server{{.environment = clock.environment()}};
///   clock.jump(-1h);
///
/// Thread safety: all members from any thread.
/// Lifetime: must outlive the start of the processes that use it.
class shifted_clock {
  public:
    shifted_clock();
    ~shifted_clock();

    shifted_clock(const shifted_clock&) = delete;
    shifted_clock& operator=(const shifted_clock&) = delete;

    /// Whether the library that shifts clocks is there: it stays in the build tree.
    static bool available();

    /// What a process needs in its environment to live by this clock.
    environment_variables environment() const;

    /// Moves the clock by this much more, forwards or backwards.
    void jump(std::chrono::nanoseconds by) { *offset_ += by.count(); }
    /// Lets it differ from the true time by exactly this much; 0 mends it.
    void set_offset(std::chrono::nanoseconds offset) { *offset_ = offset.count(); }
    std::chrono::nanoseconds offset() const { return std::chrono::nanoseconds{*offset_}; }

  private:
    using shared_offset = std::atomic<std::int64_t>;
    static_assert(shared_offset::is_always_lock_free, "shared with other processes");

    scratch_directory directory_{"clock"};
    shared_offset* offset_ = nullptr;  // in memory mapped from a file, shared with the shim
};

}  // namespace holdfast::test
