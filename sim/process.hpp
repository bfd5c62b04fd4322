#pragma once

#include <array>
#include <vector>

#include "sim/world.hpp"

namespace holdfast::sim {

/// A client's process as the operating system runs it: a clock, timers, and pauses at any step.
class process {
  public:
    using slot = std::uint32_t;
    static constexpr std::size_t most_slots = 48;

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

    /// One event stands for each timer; a timer that is put off is looked at again when that
    /// event comes, instead of filling the queue with events that nobody waits for.
    void arm(slot which, core::time_point at) {
        auto& timer = timers_[which];
        timer.at = at;
        if (at == core::never || (timer.planned && timer.planned_at <= at)) return;
        plan_event(which);
    }

    /// Whether this timer is due; it is disarmed by firing.
    bool fires(slot which, std::uint32_t generation) {
        auto& timer = timers_[which];
        if (timer.generation != generation) return false;
        timer.planned = false;
        if (timer.at == core::never) return false;
        if (local() < timer.at) {
            plan_event(which);
            return false;
        }
        timer.at = core::never;
        return true;
    }

    [[nodiscard]] bool paused() const { return world_.now() < paused_until_; }
    [[nodiscard]] instant paused_until() const { return paused_until_; }

    void pause(core::duration lasts) {
        const auto from = now();
        paused_until_ = from + lasts;
        pauses_.push_back({from, paused_until_});
    }

    /// Between two steps of one operation the scheduler may take the processor away.
    void maybe_pause() {
        if (!world_.faulty(fault::client_pause) || !chance_.per_mille(15)) return;
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
    struct alarm {
        core::time_point at = core::never;
        core::time_point planned_at{};
        std::uint32_t generation = 0;  // of the event that stands for it
        bool planned = false;
    };
    struct absence {
        instant from{};
        instant to{};
    };

    void plan_event(slot which) {
        auto& timer = timers_[which];
        timer.planned = true;
        timer.planned_at = timer.at;
        world_.schedule(clock_.when(timer.at), event::kind::client_timer, index_,
                        static_cast<std::uint16_t>(which), ++timer.generation);
    }

    world& world_;
    std::uint32_t index_;
    machine_clock clock_;
    random chance_;
    instant paused_until_{};
    std::vector<absence> pauses_;
    std::array<alarm, most_slots> timers_{};
};

}  // namespace holdfast::sim
