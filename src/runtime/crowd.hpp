#pragma once

#include <chrono>
#include <cstddef>

#include "core/time.hpp"

namespace holdfast::runtime {

/// Whether a caller that waits should let others run before it goes to sleep.
///
/// Where many callers share few processors, the answer is often there by the time that all the
/// others have had their turn: then nobody had to be put to sleep and woken, which takes longer
/// than the rest of a cycle. It is no help to a few callers, and where strangers want the processor
/// too it does harm: each of their turns takes milliseconds. One such turn, and nobody lets others
/// run for many times as long.
class crowd {
  public:
    [[nodiscard]] bool lets_others_run(std::size_t waiting, core::time_point now) const {
        return waiting >= least && now >= not_before_;
    }

    /// Others have run from `from` to `to`, while so many waited.
    void let_run(std::size_t waiting, core::time_point from, core::time_point to) {
        const auto took = to - from;
        if (took > allowance + turn_of_one * waiting) not_before_ = to + took * patience;
    }

  private:
    static constexpr std::size_t least = 8;
    static constexpr int patience = 25;  // at most a 25th of the time is given away
    static constexpr core::duration turn_of_one = std::chrono::microseconds(25);
    static constexpr core::duration allowance = std::chrono::milliseconds(1);

    core::time_point not_before_{};
};

}  // namespace holdfast::runtime
