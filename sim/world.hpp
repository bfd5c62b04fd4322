#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/machine.hpp"
#include "sim/plan.hpp"
#include "sim/random.hpp"
#include "sim/trace.hpp"

/// True time and what is going to happen in it. Two events at one instant happen in the order in
/// which they were scheduled, so a seed decides everything.
namespace holdfast::sim {

struct event {
    enum class kind : std::uint8_t {
        request_arrives,  // `subject`: message
        reply_arrives,    // `subject`: message
        push_arrives,     // `subject`: connection
        connection_lost,  // `subject`: connection; the client's end hears of it
        client_timer,     // `subject`: client, `detail`: slot, `generation`
        node_cycle,       // `subject`: node; it deletes what has expired
        fault_begins,     // `subject`: index in the schedule
        fault_ends,       // the same
        register_read,    // `subject`: visit
        register_write,   // the same
        inspect,          // `subject`: owner; has its attempt left a key behind?
        heal,             // no more faults from here on
        give_up,          // the time for recovery is over
        close,            // the end
    };

    instant at{};
    std::uint64_t order = 0;
    kind what{};
    std::uint32_t subject = 0;
    std::uint32_t detail = 0;
    std::uint32_t generation = 0;
};

class world {
  public:
    world(const plan& settings, bool traced) : settings_(settings), trace_(traced) {
        queue_.reserve(256);
    }

    [[nodiscard]] const plan& settings() const { return settings_; }
    [[nodiscard]] instant now() const { return now_; }
    [[nodiscard]] sim::trace& tracer() { return trace_; }
    [[nodiscard]] bool traced() const { return trace_.on(); }

    [[nodiscard]] bool healed() const { return healed_; }
    void heal() { healed_ = true; }

    /// Whether a fault of this kind may happen now.
    [[nodiscard]] bool faulty(fault f) const { return !healed_ && settings_.has(f); }

    void schedule(instant at, event::kind what, std::uint32_t subject, std::uint32_t detail = 0,
                  std::uint32_t generation = 0) {
        queue_.push_back({std::max(at, now_), ++order_, what, subject, detail, generation});
        std::push_heap(queue_.begin(), queue_.end(), later);
    }

    [[nodiscard]] bool idle() const { return queue_.empty(); }

    event next() {
        std::pop_heap(queue_.begin(), queue_.end(), later);
        const auto e = queue_.back();
        queue_.pop_back();
        now_ = e.at;
        ++count_;
        return e;
    }

    [[nodiscard]] std::uint64_t count() const { return count_; }

  private:
    static bool later(const event& a, const event& b) {
        return a.at != b.at ? a.at > b.at : a.order > b.order;
    }

    const plan& settings_;
    sim::trace trace_;
    instant now_{};
    bool healed_ = false;
    std::uint64_t order_ = 0;
    std::uint64_t count_ = 0;
    std::vector<event> queue_;
};

}  // namespace holdfast::sim
