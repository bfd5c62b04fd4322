#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "core/time.hpp"
#include "core/tuning.hpp"

namespace holdfast::platform {

namespace spin = core::tuning::spin;

/// How often a caller that waits should let others run before it goes to sleep.
///
/// What it waits for may be there by the time that others have had the processor. Then nobody had
/// to be put to sleep and woken, which takes longer than all the rest. So it is
///
/// - where several wait for answers of a server, which come for many at once;
/// - where a few stand in a queue for a lock that each needs for microseconds only.
///
/// If it was in vain, because the server is far away or the lock needed for longer, it is tried
/// again later, and the more often it was, the more seldom.
///
/// Where strangers want the processor too it does harm: each of their time slices takes
/// milliseconds. One such slice, and nobody lets others run for many times as long.
class spin_policy {
  public:
    enum class waits_for : bool { answers, its_turn };

    /// For one caller, as one of so many who wait.
    [[nodiscard]] unsigned yields_for(waits_for what, std::size_t waiting, core::time_point now) {
        if (now < not_before_) return 0;
        if (what == waits_for::its_turn)
            return waiting <= spin::few ? in_line_.next(spin::yields_in_line) : 0;
        return waiting >= spin::several ? for_answers_.next(spin::yields_for_answers) : 0;
    }

    /// A caller has let others run, and what it waits for came meanwhile or not.
    void learn(waits_for what, bool came) {
        (what == waits_for::its_turn ? in_line_ : for_answers_).learn(came);
    }

    /// Longer than so many who wait should take. If it was one slice, strangers had it.
    [[nodiscard]] static bool too_long(std::size_t waiting, core::duration others_ran) {
        return others_ran > spin::allowance + spin::slice_of_one * waiting;
    }

    /// Strangers ran for that long, until now.
    void avoid_strangers(core::duration ran, core::time_point now) {
        not_before_ =
            std::max(not_before_, now + std::min(ran, spin::longest_slice) * spin::avoid_factor);
    }

  private:
    class experience {
      public:
        unsigned next(unsigned yields) {
            if (skip_ == 0) return yields;
            --skip_;
            return 0;
        }

        void learn(bool came) {
            vain_ = came ? 0 : std::min(vain_ * 2 + 1, spin::most_skipped);
            skip_ = vain_;
        }

      private:
        unsigned vain_ = 0;  // grows with each time in a row
        unsigned skip_ = 0;
    };

    experience for_answers_;
    experience in_line_;
    core::time_point not_before_{};
};

}  // namespace holdfast::platform
