#pragma once

#include <algorithm>

#include "core/time.hpp"
#include "core/tuning.hpp"

/// Keeps the callers of one process from passing a lock of several voters among themselves for
/// ever. Whoever of them is next asks in the same write as the release, ahead of everybody who
/// waits elsewhere; so once in a while they leave a gap in which others can come first. One voter
/// has a queue, and needs no gaps.
///
/// A gap costs little but is in vain where nobody else wants the lock. So it comes after twice the
/// time whenever nobody used the last one, and soon again when somebody else was met.
namespace holdfast::core {

class yield_policy {
  public:
    static constexpr duration soonest = tuning::yielding::soonest;
    static constexpr duration latest = tuning::yielding::latest;

    /// Long enough for others to be notified of the release, and to ask: twice as long as it took
    /// ourselves, within these.
    static constexpr duration shortest_gap = tuning::yielding::shortest_gap;
    static constexpr duration longest_gap = tuning::yielding::longest_gap;

    /// Somebody of this process was denied by another.
    void denied() {
        since_ = never;
        gave_way_ = false;
        allowance_ = soonest;
    }

    /// Somebody of this process got the lock from the servers, which it asked at `asked_at`.
    void won(time_point asked_at, time_point now) {
        gap_ = std::clamp((now - asked_at) * 2, shortest_gap, longest_gap);
        if (since_ != never) return;
        since_ = now;
        if (gave_way_) allowance_ = std::min(allowance_ * 2, latest);
        gave_way_ = false;
    }

    /// Nobody of this process has the lock any more.
    void freed(time_point now) { freed_at_ = now; }

    /// How long whoever of this process is next has to wait before it asks.
    duration pause(time_point now) {
        if (now - freed_at_ >= gap_) since_ = never;  // there was one already
        if (since_ == never || now - since_ < allowance_) return duration{0};
        since_ = never;
        gave_way_ = true;
        return gap_;
    }

  private:
    time_point since_ = never;  // the process has had the lock without a gap; never: it has not
    time_point freed_at_{};
    duration allowance_ = soonest;
    duration gap_ = shortest_gap;
    bool gave_way_ = false;
};

}  // namespace holdfast::core
