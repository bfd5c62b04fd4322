#include "scarce.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace holdfast::test {
namespace {

constexpr long never = -1;

std::atomic<bool> scarce = false;
std::atomic<long> left = never;  // requests before the one that fails; below zero: behind it
std::atomic<bool> lasts = false;
std::atomic<bool> refused = false;
std::atomic<bool> threads_refused = false;
thread_local bool exempted = false;

}  // namespace

shortage::shortage(std::size_t nth, extent how) {
    left = static_cast<long>(nth) - 1;
    lasts = how == extent::lasts;
    refused = false;
    scarce = true;
}

shortage::~shortage() { scarce = false; }

bool shortage::happened() noexcept { return refused; }

exempt::exempt() noexcept { exempted = true; }
exempt::~exempt() { exempted = false; }

bool memory_is_refused() noexcept {
    if (!scarce || exempted) return false;
    const auto before = left.fetch_sub(1);
    const bool now = before == 0 || (before < 0 && lasts);
    if (now) refused = true;
    return now;
}

no_more_threads::no_more_threads() { threads_refused = true; }
no_more_threads::~no_more_threads() { threads_refused = false; }

}  // namespace holdfast::test

// What the standard library calls to start a thread.
extern "C" int pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*work)(void*),
                              void* argument) noexcept {
    using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "pthread_create"));
    return holdfast::test::threads_refused ? EAGAIN : real(made, how, work, argument);
}
