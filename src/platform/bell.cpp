#include "platform/bell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <boost/container/static_vector.hpp>
#include <chrono>
#include <climits>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

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

/// Where bells can hang: grows with the largest number of threads that ever had one.
class bell::place_list {
  public:
    std::pair<tower*, std::uint32_t> take() {
        const std::lock_guard lock(guard_);
        if (free_.empty()) {
            towers_.push_back(std::make_unique<tower>());
            for (unsigned n = 0; n < 32; ++n) free_.emplace_back(towers_.back().get(), 1U << n);
        }
        const auto place = free_.back();
        free_.pop_back();
        return place;
    }

    void give_back(tower* where, std::uint32_t bit) {
        const std::lock_guard lock(guard_);
        free_.emplace_back(where, bit);
    }

  private:
    std::mutex guard_;
    std::vector<std::unique_ptr<tower>> towers_;
    std::vector<std::pair<tower*, std::uint32_t>> free_;
};

// Never destroyed: threads may end after everything static is gone.
bell::place_list& bell::places() {
    static auto* const all = new place_list;
    return *all;
}

std::shared_ptr<bell> bell::of_this_thread() {
    thread_local const auto mine = std::make_shared<bell>();
    return mine;
}

bell::bell() { std::tie(tower_, bit_) = places().take(); }
bell::~bell() { places().give_back(tower_, bit_); }

void bell::tower::wake(std::uint32_t which) {
    strokes.fetch_add(1, std::memory_order_release);
    ::syscall(SYS_futex, &strokes, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, nullptr, nullptr, which);
}

// One of the two sees what the other has stored: the ringer that somebody sleeps, or the sleeper
// that it was rung.
void bell::ring() {
    rung_.store(true);
    if (asleep_.load()) tower_->wake(bit_);
}

void bell::ring_all(std::span<const std::shared_ptr<bell>> bells) noexcept {
    boost::container::static_vector<std::pair<tower*, std::uint32_t>, 8> towers;
    for (const auto& each : bells) {
        each->rung_.store(true);
        if (!each->asleep_.load()) continue;
        const auto same = std::find_if(towers.begin(), towers.end(), [&](const auto& known) {
            return known.first == each->tower_;
        });
        if (same != towers.end()) {
            same->second |= each->bit_;
        } else if (towers.size() < towers.capacity()) {
            towers.emplace_back(each->tower_, each->bit_);
        } else {
            each->tower_->wake(each->bit_);
        }
    }
    for (const auto& [where, which] : towers) where->wake(which);
}

bool bell::heard() { return rung_.load() && rung_.exchange(false); }

// Who is rung between the last look at the bell and the call finds that the tower has struck since.
bool bell::sleep_until(core::time_point when) {
    asleep_.store(true);
    bool rung = false;
    for (;;) {
        const auto seen = tower_->strokes.load(std::memory_order_acquire);
        rung = heard();
        const bool timed = when != core::never;
        if (rung || (timed && when <= clock::now())) break;
        const auto limit = timed ? on_monotonic_clock(when) : timespec{};
        ::syscall(SYS_futex, &tower_->strokes, FUTEX_WAIT_BITSET_PRIVATE, seen,
                  timed ? &limit : nullptr, nullptr, bit_);
    }
    asleep_.store(false);
    return rung;
}

}  // namespace holdfast::platform
