#include "platform/alarm.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace holdfast::platform {

alarm::alarm() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::system_category(), "eventfd");
}

alarm::~alarm() { ::close(descriptor_); }

// Neither can fail in a way that matters: a full counter has rung already, an empty one is silent.
void alarm::ring() {
    const std::uint64_t once = 1;
    [[maybe_unused]] const auto written = ::write(descriptor_, &once, sizeof once);
}

void alarm::silence() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(descriptor_, &count, sizeof count);
}

}  // namespace holdfast::platform
