// Loaded with LD_PRELOAD into a real server, this library shifts the wall clock that the server
// sees: CLOCK_REALTIME, its coarse twin, gettimeofday and time. CLOCK_MONOTONIC and its kin stay
// true. The offset, in nanoseconds, lies in a file named by HOLDFAST_CLOCK_SHIM that the test maps
// too (see shifted_clock.hpp), so that the clock jumps while the server runs.
//
// The time comes from system calls, not from the functions that are replaced: to look those up
// may allocate, and an allocator that reads the clock while it starts, as the one of Redis does,
// would wait for itself.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::int64_t second = 1'000'000'000;

const std::int64_t* offset_in_file = nullptr;

__attribute__((constructor)) void map_offset() {
    const char* name = std::getenv("HOLDFAST_CLOCK_SHIM");
    if (name == nullptr) return;
    const int file = ::open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) std::abort();  // a clock that silently stays true would make tests meaningless
    void* address = ::mmap(nullptr, sizeof *offset_in_file, PROT_READ, MAP_SHARED, file, 0);
    if (address == MAP_FAILED) std::abort();
    ::close(file);
    offset_in_file = static_cast<const std::int64_t*>(address);
}

std::int64_t offset() {
    // Before the constructor ran, other libraries see the true time.
    return offset_in_file == nullptr ? 0 : __atomic_load_n(offset_in_file, __ATOMIC_RELAXED);
}

timespec shifted(timespec time) {
    const std::int64_t total = time.tv_sec * second + time.tv_nsec + offset();
    std::int64_t nanoseconds = total % second;
    if (nanoseconds < 0) nanoseconds += second;
    return {.tv_sec = (total - nanoseconds) / second, .tv_nsec = nanoseconds};
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        *time = shifted(*time);
    return result;
}

int gettimeofday(timeval* time, void*) noexcept {
    timespec now{};
    const int result = clock_gettime(CLOCK_REALTIME, &now);
    if (result == 0) *time = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return result;
}

time_t time(time_t* seconds) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (seconds != nullptr) *seconds = now.tv_sec;
    return now.tv_sec;
}

}  // extern "C"
