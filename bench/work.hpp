#pragma once

#include <sched.h>

#include <chrono>
#include <cstddef>
#include <cstdio>

#include "holdfast/clock.hpp"
#include "holdfast/options.hpp"

namespace holdfast::bench {

using std::chrono::nanoseconds;

/// Keeps this thread, and every thread and child that it starts from now on, on one core.
inline void pin_to_core(int core) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<std::size_t>(core), &cores);
    if (::sched_setaffinity(0, sizeof cores, &cores) != 0) std::perror("sched_setaffinity");
}

template <typename Work>
nanoseconds timed(std::size_t times, Work&& work) {
    const auto begin = clock::now();
    for (std::size_t n = 0; n < times; ++n) work();
    return clock::now() - begin;
}

inline acquire_options how(bool fencing, bool await_release) {
    acquire_options options;
    options.fencing = fencing;
    options.await_release = await_release;
    return options;
}

}  // namespace holdfast::bench
