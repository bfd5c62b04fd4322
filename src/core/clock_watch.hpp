#pragma once

#include <cstdint>
#include <optional>

#include "core/time.hpp"

namespace holdfast::core {

/// Notices when a server's wall clock jumps, by which its keys live longer or shorter than they
/// should. Compares how much time passed there and here between two looks; the answer's own
/// travel time widens what is tolerated.
class clock_watch {
  public:
    struct config {
        duration tolerance = std::chrono::milliseconds(100);  // of one jump
        unsigned drift_per_mille = 10;                        // of the rate
    };

    explicit clock_watch(const config& settings) : config_(settings) {}

    /// The server's TIME, asked for at `sent` and answered at `received`. Returns by how much the
    /// clock jumped (negative: backwards) since the last look, if beyond tolerance.
    std::optional<duration> observe(std::chrono::microseconds server, time_point sent,
                                    time_point received);

    /// After a reconnect the server may be another one: the next look is the first again.
    void forget() { last_.reset(); }

  private:
    struct look {
        std::chrono::microseconds server;
        time_point sent;
        time_point received;
    };

    config config_;
    std::optional<look> last_;
};

}  // namespace holdfast::core
