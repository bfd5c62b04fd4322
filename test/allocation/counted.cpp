#include "counted.hpp"

#include <cstdlib>
#include <new>

#include "scarce.hpp"

namespace {

thread_local std::size_t count = 0;

}  // namespace

std::size_t holdfast::test::allocations_of_this_thread() noexcept { return count; }

void* operator new(std::size_t bytes) {
    ++count;
    if (holdfast::test::memory_is_refused()) throw std::bad_alloc();
    if (void* const place = std::malloc(bytes)) return place;
    throw std::bad_alloc();
}

void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }

// What Asio calls for its handlers.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    if (holdfast::test::memory_is_refused()) return nullptr;
    void* place = nullptr;
    return ::posix_memalign(&place, alignment, bytes) == 0 ? place : nullptr;
}
