#include "core/clock_watch.hpp"

#include <algorithm>

namespace holdfast::core {

using std::chrono::microseconds;

std::optional<duration> clock_watch::observe(microseconds server, time_point sent,
                                             time_point received) {
    const bracket seen{
        .least = server - std::chrono::ceil<microseconds>(received.time_since_epoch()),
        .most = server - std::chrono::floor<microseconds>(sent.time_since_epoch()),
        .as_of = sent};
    const auto before = known_ ? widened(*known_, received) : seen;
    known_ = seen;
    if (seen.least > before.most + config_.tolerance) return seen.least - before.most;
    if (seen.most < before.least - config_.tolerance) return seen.most - before.least;
    known_ = nearest(before, seen);
    return std::nullopt;
}

// Where they overlap, what both allow. Otherwise the clock has moved by as little as is tolerated:
// then the end of `seen` that needs the smallest move, so that a larger one will still show.
clock_watch::bracket clock_watch::nearest(const bracket& before, const bracket& seen) {
    return {.least = std::clamp(before.least, seen.least, seen.most),
            .most = std::clamp(before.most, seen.least, seen.most),
            .as_of = seen.as_of};
}

clock_watch::bracket clock_watch::widened(const bracket& known, time_point now) const {
    const auto drift =
        std::chrono::ceil<microseconds>((now - known.as_of) * config_.drift_per_mille / 1000);
    return {known.least - drift, known.most + drift, known.as_of};
}

}  // namespace holdfast::core
