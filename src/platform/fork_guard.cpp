#include "platform/fork_guard.hpp"

#include <pthread.h>

#include <atomic>

namespace holdfast {
namespace {

std::atomic<unsigned> generation = 0;

void born_by_fork() { generation.fetch_add(1, std::memory_order_relaxed); }

const int registered = ::pthread_atfork(nullptr, nullptr, &born_by_fork);

}  // namespace

unsigned fork_generation() noexcept {
    return registered == 0 ? generation.load(std::memory_order_relaxed) : 0;
}

}  // namespace holdfast
