#pragma once

#include <chrono>
#include <cstdint>

namespace holdfast::sim {

/// Chance that is the same on every machine and every run: splitmix64.
class random {
  public:
    explicit random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

    /// In [0, limit). REQUIRES: limit > 0.
    std::uint64_t below(std::uint64_t limit) { return next() % limit; }

    std::int64_t between(std::int64_t least, std::int64_t most) {
        return least +
               static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least) + 1));
    }

    std::chrono::nanoseconds between(std::chrono::nanoseconds least,
                                     std::chrono::nanoseconds most) {
        return std::chrono::nanoseconds{between(least.count(), most.count())};
    }

    bool per_mille(unsigned rate) { return below(1000) < rate; }
    bool coin() { return (next() & 1U) != 0; }

    /// A stream of its own for one purpose, so that switching one thing off leaves the others
    /// alone.
    [[nodiscard]] random split(std::uint64_t purpose) const {
        random derived(state_ ^ (purpose * 0xd1342543de82ef95U));
        derived.next();
        return derived;
    }

  private:
    std::uint64_t state_;
};

}  // namespace holdfast::sim
