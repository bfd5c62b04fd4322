#include "platform/wake_timer.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "holdfast/clock.hpp"

namespace holdfast::platform {
namespace {

// Zero would switch it off.
timespec expiry(core::time_point when) {
    const auto at = std::max(when.time_since_epoch(), core::duration{1});
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
    return {seconds.count(), (at - seconds).count()};
}

}  // namespace

wake_timer::wake_timer()
    : descriptor_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::system_category(), "timerfd_create");
}

wake_timer::~wake_timer() { ::close(descriptor_); }

void wake_timer::set(core::time_point when) {
    if (set_to_ <= when && clock::now() < set_to_) return;
    set_to_ = when;
    itimerspec once{};
    if (when != core::never) once.it_value = expiry(when);
    ::timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &once, nullptr);
}

}  // namespace holdfast::platform
