#pragma once

#include <algorithm>
#include <cstdint>

#include "core/time.hpp"

namespace holdfast::core {

/// A number in [0, span), from 64 random bits that the caller drew.
constexpr duration fraction_of(duration span, std::uint64_t chance) {
    const auto width = static_cast<std::uint64_t>(std::max(span, duration{0}).count());
    return duration{static_cast<duration::rep>(width == 0 ? 0 : chance % width)};
}

/// Random delays that grow: the n-th lies in [half, whole) of `first * 2^n`, capped at `most`.
/// Half of it is fixed, so that it really grows; half is chance, so that rivals part ways.
class backoff {
  public:
    constexpr backoff(duration first, duration most)
        : first_(std::min(first, most)), most_(most), whole_(first_) {}

    constexpr duration next(std::uint64_t chance) {
        const auto whole = whole_;
        whole_ = whole > most_ / 2 ? most_ : whole * 2;
        return whole / 2 + fraction_of(whole / 2, chance);
    }
    constexpr void reset() { whole_ = first_; }

  private:
    duration first_;
    duration most_;
    duration whole_;  // of the next delay
};

}  // namespace holdfast::core
