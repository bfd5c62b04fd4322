#include "platform/futex_parker.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <boost/container/static_vector.hpp>
#include <chrono>
#include <climits>
#include <tuple>
#include <utility>
#include <vector>

#include "base/locks.hpp"
#include "holdfast/clock.hpp"

namespace holdfast::platform {
namespace {

// The kernel wants a point of CLOCK_MONOTONIC. After a suspend that is late, and what counts is
// compared with the right clock anyway.
timespec on_monotonic_clock(core::time_point when) {
    const auto left = when - clock::now();
    const auto at = std::chrono::steady_clock::now().time_since_epoch() + left;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
    return {seconds.count(), (at - seconds).count()};
}

}  // namespace

/// The bits of all futexes: grows with the largest number of threads that ever had a parker.
class futex_parker::slot_list {
  public:
    std::pair<futex_word*, std::uint32_t> take() {
        const base::thread_lock lock(guard_);
        if (free_.empty()) {
            words_.push_back(std::make_unique<futex_word>());
            for (unsigned n = 0; n < 32; ++n) free_.emplace_back(words_.back().get(), 1U << n);
        }
        const auto place = free_.back();
        free_.pop_back();
        return place;
    }

    void give_back(futex_word* where, std::uint32_t bit) {
        const base::thread_lock lock(guard_);
        free_.emplace_back(where, bit);
    }

  private:
    base::thread_mutex guard_;
    std::vector<std::unique_ptr<futex_word>> words_ HOLDFAST_GUARDED_BY(guard_);
    std::vector<std::pair<futex_word*, std::uint32_t>> free_ HOLDFAST_GUARDED_BY(guard_);
};

// Never destroyed: threads may end after everything static is gone.
futex_parker::slot_list& futex_parker::slots() {
    static auto* const all = new slot_list;
    return *all;
}

std::shared_ptr<futex_parker> futex_parker::of_this_thread() {
    thread_local const auto mine = std::make_shared<futex_parker>();
    return mine;
}

futex_parker::futex_parker() { std::tie(word_, bit_) = slots().take(); }
futex_parker::~futex_parker() { slots().give_back(word_, bit_); }

void futex_parker::futex_word::wake(std::uint32_t which) {
    wakes.fetch_add(1, std::memory_order_release);
    ::syscall(SYS_futex, &wakes, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, nullptr, nullptr, which);
}

// One of the two sees what the other has stored: who unparks that somebody is parked, or
// who parks that there is a permit.
void futex_parker::unpark() {
    permit_.store(true);
    if (parked_.load()) word_->wake(bit_);
}

void futex_parker::unpark_all(std::span<const std::shared_ptr<futex_parker>> all) noexcept {
    boost::container::static_vector<std::pair<futex_word*, std::uint32_t>, 8> words;
    for (const auto& each : all) {
        each->permit_.store(true);
        if (!each->parked_.load()) continue;
        const auto same = std::find_if(words.begin(), words.end(), [&](const auto& known) {
            return known.first == each->word_;
        });
        if (same != words.end()) {
            same->second |= each->bit_;
        } else if (words.size() < words.capacity()) {
            words.emplace_back(each->word_, each->bit_);
        } else {
            each->word_->wake(each->bit_);
        }
    }
    for (const auto& [where, which] : words) where->wake(which);
}

bool futex_parker::take_permit() { return permit_.load() && permit_.exchange(false); }

// Who is unparked between the last look at the permit and the call finds that the futex's value has
// changed since.
bool futex_parker::park_until(core::time_point when) {
    parked_.store(true);
    bool permitted = false;
    for (;;) {
        const auto seen = word_->wakes.load(std::memory_order_acquire);
        permitted = take_permit();
        const bool timed = when != core::never;
        if (permitted || (timed && when <= clock::now())) break;
        const auto limit = timed ? on_monotonic_clock(when) : timespec{};
        ::syscall(SYS_futex, &word_->wakes, FUTEX_WAIT_BITSET_PRIVATE, seen,
                  timed ? &limit : nullptr, nullptr, bit_);
    }
    parked_.store(false);
    return permitted;
}

}  // namespace holdfast::platform
