#pragma once

#include <chrono>
#include <thread>

namespace holdfast::test {

/// Waits until `predicate()` is true, for at most `bound`, and tells whether it became so.
/// The predicate is asked at once, then every millisecond, and a last time after the bound: a
/// loaded machine that overslept the bound does not turn a true condition into a failure.
template <typename Predicate>
bool eventually(std::chrono::milliseconds bound, Predicate predicate) {
    const auto give_up = std::chrono::steady_clock::now() + bound;
    while (std::chrono::steady_clock::now() < give_up) {
        if (predicate()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return predicate();
}

}  // namespace holdfast::test
