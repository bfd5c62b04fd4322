#pragma once

#include "core/time.hpp"

namespace holdfast::platform {

/// A descriptor that can be read from a point in time on, by CLOCK_BOOTTIME.
///
/// Timeouts of poll(), futexes and condition variables stand still while the machine is suspended,
/// and end late by as long as it was. This one ends with the suspend.
class wake_timer {
  public:
    wake_timer();  // throws std::system_error where no descriptor is left
    ~wake_timer();

    wake_timer(const wake_timer&) = delete;
    wake_timer& operator=(const wake_timer&) = delete;

    [[nodiscard]] int descriptor() const { return descriptor_; }

    /// Readable at `when` at the latest. It may be earlier, if that saves a system call: whoever
    /// waits looks at the clock anyway. After it was readable it has to be set again.
    void set(core::time_point when);

  private:
    int descriptor_;
    core::time_point set_to_ = core::never;
};

}  // namespace holdfast::platform
