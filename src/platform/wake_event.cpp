#include "platform/wake_event.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace holdfast::platform {

wake_event::wake_event() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::system_category(), "eventfd");
}

wake_event::~wake_event() { ::close(descriptor_); }

// Neither can fail in a way that matters: a full counter is set already, an empty one is clear.
void wake_event::set() {
    const std::uint64_t once = 1;
    [[maybe_unused]] const auto written = ::write(descriptor_, &once, sizeof once);
}

void wake_event::clear() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(descriptor_, &count, sizeof count);
}

}  // namespace holdfast::platform
