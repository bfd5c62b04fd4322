#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/random.hpp"
#include "sim/world/clocks.hpp"
#include "sim/world/plan.hpp"
#include "sim/world/trace.hpp"

/// The simulator that runs the shipped client: engine, operations, nodes, connections, handshake,
/// encoder and framer as they are, over simulated byte streams, against simulated servers.
namespace holdfast::sim {

struct event {
    enum class kind : std::uint8_t {
        connect_arrives,  // `subject`: stream; the server's machine hears of a new connection
        connected,        // the same; the client hears that it is accepted, or refused
        bytes_go_up,      // the same; the first piece that is under way has arrived
        bytes_come_down,  // the same
        close_arrives,    // the same; the server hears that the client has hung up
        break_heard,      // the same; the client's end hears that it is broken
        writable,         // the same; what the client's machine did not take at once is gone
        client_looks,     // `subject`: client, `generation`
        callbacks,        // `subject`: client
        caller_acts,      // `subject`: client, `slot`: caller, `generation`
        server_cycle,     // `subject`: server; it deletes what has expired
        wait_ends,        // the same; somebody there has waited for acknowledgements for too long
        group_acts,       // of a replication group; `slot` says what: sim/world/group.hpp
        fault_begins,     // `subject`: index in the schedule
        fault_ends,       // the same
        register_read,    // `subject`: visit
        register_write,   // the same
        inspect,          // `subject`: owner; has its attempt left a key behind?
        line_looked_at,   // what is the only server's queue waiting for?
        heal,             // no more faults from here on
        give_up,          // the time for recovery is over
        close,            // the end
    };

    instant at{};
    std::uint32_t order = 0;
    std::uint32_t subject = 0;
    std::uint32_t generation = 0;
    std::uint16_t slot = 0;
    kind what{};
};
static_assert(sizeof(event) == 24);  // the queue moves a dozen of them for each one that happens

/// True time and what is going to happen in it. Two events at one instant happen in the order in
/// which they were scheduled, so a seed decides everything.
class world {
  public:
    world(const plan& settings, bool traced) : settings_(settings), trace_(traced) {
        soon_.reserve(64);
        later_.reserve(256);
    }

    [[nodiscard]] const plan& settings() const { return settings_; }
    [[nodiscard]] instant now() const { return now_; }
    [[nodiscard]] sim::trace& tracer() { return trace_; }
    [[nodiscard]] bool traced() const { return trace_.on(); }

    [[nodiscard]] bool healed() const { return healed_; }
    void heal() { healed_ = true; }

    /// Whether a fault of this kind may happen now.
    [[nodiscard]] bool faulty(fault f) const { return !healed_ && settings_.has(f); }

    void schedule(instant at, event::kind what, std::uint32_t subject, std::uint16_t slot = 0,
                  std::uint32_t generation = 0) {
        auto& queue = at - now_ < settings_.base_delay * 4 ? soon_ : later_;
        queue.push_back({std::max(at, now_), ++order_, subject, generation, slot, what});
        std::push_heap(queue.begin(), queue.end(), after{});
    }

    [[nodiscard]] bool idle() const { return soon_.empty() && later_.empty(); }

    event next() {
        const bool from_soon =
            later_.empty() || (!soon_.empty() && after{}(later_.front(), soon_.front()));
        auto& queue = from_soon ? soon_ : later_;
        std::pop_heap(queue.begin(), queue.end(), after{});
        const auto e = queue.back();
        queue.pop_back();
        now_ = e.at;
        ++count_;
        return e;
    }

    [[nodiscard]] std::uint64_t count() const { return count_; }

  private:
    // Time and order as one number: which of two events comes first is as good as a coin to the
    // processor, and so it is compared without a branch.
    __extension__ using moment = __int128;
    static moment moment_of(const event& e) { return moment{e.at.count()} << 64U | e.order; }
    struct after {
        bool operator()(const event& a, const event& b) const {
            return moment_of(a) > moment_of(b);
        }
    };

    const plan& settings_;
    sim::trace trace_;
    instant now_{};
    bool healed_ = false;
    std::uint32_t order_ = 0;
    std::uint64_t count_ = 0;
    // Two heaps: most events are messages, gone in a moment. They would have to pass by a hundred
    // events that wait for seconds.
    std::vector<event> soon_;
    std::vector<event> later_;
};

}  // namespace holdfast::sim
