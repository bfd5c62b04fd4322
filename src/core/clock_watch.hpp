#pragma once

#include <cstdint>
#include <optional>

#include "core/time.hpp"

namespace holdfast::core {

/// Notices when a server's wall clock jumps, by which its keys live longer or shorter than they
/// should.
///
/// A look brackets by how much the server's clock leads ours: it was read there some time between
/// `sent` and `received` here. Looks with no jump between them agree on a lead, give or take the
/// drift, and what all of them agree on is kept: a slow answer, whose bracket is wide, does not
/// hide a jump from the prompt answer that follows it.
class clock_watch {
  public:
    struct config {
        duration tolerance = std::chrono::milliseconds(100);  // of one jump
        unsigned drift_per_mille = 10;                        // of the rate
    };

    explicit clock_watch(const config& settings) : config_(settings) {}

    /// The server's TIME, asked for at `sent` and answered at `received`. Returns by how much the
    /// clock jumped at least (negative: backwards) since the last look, if beyond tolerance.
    std::optional<duration> observe(std::chrono::microseconds server, time_point sent,
                                    time_point received);

    /// The server may be another one now: the next look is the first again.
    void forget() { known_.reset(); }

  private:
    struct bracket {  // of the server's clock minus ours
        std::chrono::microseconds least;
        std::chrono::microseconds most;
        time_point as_of;
    };

    [[nodiscard]] bracket widened(const bracket& known, time_point now) const;
    [[nodiscard]] static bracket nearest(const bracket& before, const bracket& seen);

    config config_;
    std::optional<bracket> known_;
};

}  // namespace holdfast::core
