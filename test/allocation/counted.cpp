#include "counted.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t count = 0;

}  // namespace

std::size_t holdfast::test::allocations_of_this_thread() noexcept { return count; }

void* operator new(std::size_t bytes) {
    ++count;
    if (void* const place = std::malloc(bytes)) return place;
    throw std::bad_alloc();
}

void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }
