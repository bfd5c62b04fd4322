#pragma once

#include <array>
#include <memory>
#include <vector>

#include "runtime/plan.hpp"
#include "sim/check/register.hpp"
#include "sim/world/caller.hpp"
#include "sim/world/environment.hpp"

namespace holdfast::sim {

/// One process: the shipped engine in an environment of its own, and its callers.
class client {
  public:
    client(world& in, network& on, checkers& watched, fenced_register& shared, std::uint32_t index,
           const machine_clock& clock);
    ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    void start();
    void healed();
    /// Vanishes without a word: nothing happens to it any more.
    void crash();
    [[nodiscard]] bool crashed() const { return crashed_; }

    // Events, from the simulation. One that stands still gets them later.
    void looks(std::uint32_t generation);
    void connected(stream& which, bool refused);
    void bytes_arrive(stream& which);
    void break_heard(stream& which);
    void writable(stream& which);
    void callbacks();
    void caller_acts(std::uint32_t which, std::uint32_t generation);

    [[nodiscard]] process& self() { return process_; }
    [[nodiscard]] checkers& watched() { return checkers_; }
    [[nodiscard]] const runtime::engine_pointer& engine() { return engine_; }
    [[nodiscard]] simulated_environment& around() { return *around_; }
    [[nodiscard]] const runtime::plan_pointer& plan_for(bool limited, bool fair, bool reads) const {
        return plans_[(limited ? 1U : 0U) + (fair ? 2U : 0U) + (reads ? 4U : 0U)];
    }
    void visit_register(holder_id who, core::fencing_token token) {
        register_.visit(who, token, process_.now(), process_.chance());
    }
    void gather();  // its callers, about one thing

    [[nodiscard]] bool satisfied() const;
    /// All of its callers are at rest, and all that it wrote is on its way.
    [[nodiscard]] bool at_rest();

    /// Its connection to the server is ready, and both directions carry on: for the checkers' eyes.
    [[nodiscard]] bool in_order(std::uint32_t server);

    /// Since when it could have asked the server at any time; instant::max(): it could not now.
    [[nodiscard]] instant able_since(std::uint32_t server);

  private:
    void settle();
    void came_down(stream& which);

    process process_;
    network& network_;
    checkers& checkers_;
    fenced_register& register_;
    std::shared_ptr<simulated_environment> around_;
    runtime::engine_pointer engine_;
    std::array<runtime::plan_pointer, 8> plans_;
    bool crashed_ = false;
    std::vector<bool> ready_;          // each node, when it was last looked at
    std::vector<instant> able_since_;  // the same
    std::vector<std::unique_ptr<caller>> callers_;
};

}  // namespace holdfast::sim
