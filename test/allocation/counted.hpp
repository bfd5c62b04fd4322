#pragma once

#include <cstddef>

namespace holdfast::test {

/// How often this thread has asked for memory with `new` since it began. The whole binary counts:
/// its operators are replaced.
std::size_t allocations_of_this_thread() noexcept;

}  // namespace holdfast::test
