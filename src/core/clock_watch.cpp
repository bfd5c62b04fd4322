#include "core/clock_watch.hpp"

#include <utility>

namespace holdfast::core {

std::optional<duration> clock_watch::observe(std::chrono::microseconds server, time_point sent,
                                             time_point received) {
    const auto before = std::exchange(last_, look{server, sent, received});
    if (!before) return std::nullopt;
    const duration there = server - before->server;
    const auto least = sent - before->received;
    const auto most = received - before->sent;
    const auto tolerance = config_.tolerance + most * config_.drift_per_mille / 1000;
    if (there < least - tolerance) return there - least;
    if (there > most + tolerance) return there - most;
    return std::nullopt;
}

}  // namespace holdfast::core
