#pragma once

#include <algorithm>
#include <vector>

#include "sim/world/world.hpp"

namespace holdfast::sim {

/// A client's process as the operating system runs it: a clock of its own, and pauses at any step.
class process {
  public:
    process(world& in, std::uint32_t index, const machine_clock& clock)
        : world_(in),
          index_(index),
          clock_(clock),
          chance_(random(in.settings().seed).split(100 + index)) {}

    /// True time as this process lives it: a pause in the middle of a step moves it on.
    [[nodiscard]] instant now() const { return std::max(world_.now(), paused_until_); }
    [[nodiscard]] core::time_point local() const { return clock_.read(now()); }
    [[nodiscard]] instant when(core::time_point local) const { return clock_.when(local); }

    [[nodiscard]] world& in() { return world_; }
    [[nodiscard]] const plan& settings() const { return world_.settings(); }
    [[nodiscard]] std::uint32_t index() const { return index_; }
    random& chance() { return chance_; }

    [[nodiscard]] bool paused() const { return world_.now() < paused_until_; }
    [[nodiscard]] instant paused_until() const { return paused_until_; }

    void pause(core::duration lasts) {
        const auto from = now();
        paused_until_ = from + lasts;
        pauses_.push_back({from, paused_until_});
    }

    /// Between two steps of one operation the scheduler may take the processor away.
    void maybe_pause(unsigned per_mille) {
        if (!world_.faulty(fault::client_pause) || !chance_.per_mille(per_mille)) return;
        pause(chance_.between(core::duration{0}, settings().timing.ttl * 3));
        if (world_.traced()) {
            world_.tracer().line(world_.now(), "pause", "client %u stands still until %.6f", index_,
                                 static_cast<double>(paused_until_.count()) / 1e9);
        }
    }

    [[nodiscard]] bool paused_between(instant from, instant to) const {
        return std::ranges::any_of(pauses_,
                                   [&](const absence& s) { return s.from <= to && s.to >= from; });
    }

  private:
    struct absence {
        instant from{};
        instant to{};
    };

    world& world_;
    std::uint32_t index_;
    machine_clock clock_;
    random chance_;
    instant paused_until_{};
    std::vector<absence> pauses_;
};

}  // namespace holdfast::sim
