#pragma once

#include <cstdint>

#include "core/time.hpp"

namespace holdfast::sim {

/// True time since the simulation began. Nobody in the simulation can read it but the checkers.
using instant = core::duration;

/// A clock that runs a little fast or slow: what a client measures with.
class machine_clock {
  public:
    machine_clock() = default;
    machine_clock(core::duration offset, std::int64_t parts_per_million)
        : offset_(offset), parts_per_million_(parts_per_million) {}

    [[nodiscard]] core::duration elapsed(instant at) const {
        return at + at * parts_per_million_ / million;
    }
    [[nodiscard]] core::time_point read(instant at) const {
        return core::time_point{offset_ + elapsed(at)};
    }

    /// The first moment at which the clock shows `local`, or later.
    [[nodiscard]] instant when(core::time_point local) const {
        const auto shown = local.time_since_epoch() - offset_;
        auto at = shown - shown * parts_per_million_ / (million + parts_per_million_);
        while (read(at) < local) ++at;
        while (at > instant{0} && read(at - instant{1}) >= local) --at;
        return at;
    }

  private:
    static constexpr std::int64_t million = 1'000'000;
    core::duration offset_{};
    std::int64_t parts_per_million_ = 0;
};

/// A server's wall clock: it has a rate, an offset from the others, and it can jump.
class wall_clock {
  public:
    wall_clock() = default;
    wall_clock(core::duration offset, std::int64_t parts_per_million)
        : rate_(core::duration{0}, parts_per_million), offset_(offset) {}

    [[nodiscard]] std::chrono::microseconds read(instant at) const {
        return std::chrono::duration_cast<std::chrono::microseconds>(era + offset_ +
                                                                     rate_.elapsed(at));
    }
    void jump(core::duration by) { offset_ += by; }

    /// About when the clock will show `wall_ms`, if it does not jump before.
    [[nodiscard]] instant when(std::int64_t wall_ms) const {
        const auto shown = core::duration{std::chrono::milliseconds(wall_ms)} - era - offset_;
        return rate_.when(core::time_point{shown});
    }

  private:
    static constexpr core::duration era = std::chrono::seconds(1'000'000'000);
    machine_clock rate_;
    core::duration offset_{};
};

}  // namespace holdfast::sim
