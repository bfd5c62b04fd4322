#include "runtime/driving/timer_queue.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace holdfast::runtime {
namespace {

constexpr std::size_t first_room = 16;

}  // namespace

void timer_queue::reserve() {
    if (enrolled_ == heap_.capacity()) heap_.reserve(std::max(first_room, 2 * enrolled_));
}

void timer_queue::set(timer& which, core::time_point when) noexcept {
    if (when == core::never) return cancel(which);
    which.at_ = when;
    if (which.place_ == timer::nowhere) {
        assert(heap_.size() < enrolled_);
        heap_.push_back(&which);
        which.place_ = heap_.size() - 1;
    }
    rise(which.place_);
    sink(which.place_);
}

void timer_queue::cancel(timer& which) noexcept {
    if (which.place_ == timer::nowhere) return;
    const auto place = std::exchange(which.place_, timer::nowhere);
    auto* const last = heap_.back();
    heap_.pop_back();
    if (last == &which) return;
    put(place, last);
    rise(place);
    sink(last->place_);
}

void timer_queue::fire(core::time_point now) noexcept {
    while (next() <= now) {
        auto& first = *heap_.front();
        cancel(first);
        first.due(now);
    }
}

void timer_queue::put(std::size_t place, timer* which) {
    heap_[place] = which;
    which->place_ = place;
}

void timer_queue::rise(std::size_t place) {
    auto* const moving = heap_[place];
    for (; place > 0 && moving->at_ < heap_[(place - 1) / 2]->at_; place = (place - 1) / 2) {
        put(place, heap_[(place - 1) / 2]);
    }
    put(place, moving);
}

void timer_queue::sink(std::size_t place) {
    auto* const moving = heap_[place];
    for (auto child = 2 * place + 1; child < heap_.size(); child = 2 * place + 1) {
        if (child + 1 < heap_.size() && heap_[child + 1]->at_ < heap_[child]->at_) ++child;
        if (moving->at_ <= heap_[child]->at_) break;
        put(std::exchange(place, child), heap_[child]);
    }
    put(place, moving);
}

}  // namespace holdfast::runtime
