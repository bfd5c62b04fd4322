#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "core/time.hpp"

namespace holdfast::runtime {

/// How often a caller that waits should let others run before it goes to sleep.
///
/// What it waits for may be there by the time that others have had their turn. Then nobody had to
/// be put to sleep and woken, which takes longer than all the rest. So it is
///
/// - where many wait for answers of a server, which come for many at once: one turn will do;
/// - where a few stand in line for a lock that each needs for microseconds only. Where the lock is
///   needed for longer the turns are in vain, and the more often they were, the more seldom they
///   are tried again.
///
/// Where strangers want the processor too it does harm: each of their turns takes milliseconds. One
/// such turn, and nobody lets others run for many times as long.
class crowd {
  public:
    [[nodiscard]] unsigned turns(std::size_t waiting, bool in_line, core::time_point now) {
        if (now < not_before_) return 0;
        if (!in_line) return waiting >= many ? 1 : 0;
        if (waiting > few) return 0;
        if (skip_ == 0) return turns_in_line;
        --skip_;
        return 0;
    }

    /// Somebody in line has let others run, and its turn came meanwhile or not.
    void let_run_in_line(bool served) {
        vain_ = served ? 0 : std::min(vain_ * 2 + 1, most_skipped);
        skip_ = vain_;
    }

    /// Whether others who ran for that long, while so many waited, were strangers.
    [[nodiscard]] static bool met_strangers(std::size_t waiting, core::duration others_ran) {
        return others_ran > allowance + turn_of_one * waiting;
    }

    /// Strangers ran for that long, until now.
    void avoid_strangers(core::duration ran, core::time_point now) {
        not_before_ = now + ran * patience;
    }

  private:
    static constexpr std::size_t many = 8;
    static constexpr std::size_t few = 24;
    static constexpr unsigned turns_in_line = 40;
    static constexpr unsigned most_skipped = 63;
    static constexpr int patience = 25;  // at most a 25th of the time is given away
    static constexpr core::duration turn_of_one = std::chrono::microseconds(25);
    static constexpr core::duration allowance = std::chrono::milliseconds(1);

    unsigned vain_ = 0;  // in vain: doubles with each time in a row
    unsigned skip_ = 0;
    core::time_point not_before_{};
};

}  // namespace holdfast::runtime
