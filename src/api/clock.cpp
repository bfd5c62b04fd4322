#include "holdfast/clock.hpp"

#include <ctime>

namespace holdfast {

clock::time_point clock::now() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);  // cannot fail on any kernel that C++20 runs on
    return time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace holdfast
