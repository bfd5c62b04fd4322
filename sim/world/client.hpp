#pragma once

#include <array>
#include <memory>
#include <vector>

#include "runtime/plan.hpp"
#include "sim/check/register.hpp"
#include "sim/world/caller.hpp"
#include "sim/world/environment.hpp"
#include "sim/world/kind_wishes.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/participant.hpp"
#include "sim/world/public_client.hpp"

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
    [[nodiscard]] ::holdfast::client& as_public() { return *public_; }
    [[nodiscard]] bool is_closed() const { return closed_; }
    [[nodiscard]] simulated_environment& around() { return *around_; }
    [[nodiscard]] runtime::plan_pointer plan_for(std::uint32_t caller, bool limited, bool fair,
                                                 bool reads);
    void visit_register(holder_id who, core::fencing_token token) {
        register_.visit(who, token, process_.now(), process_.chance());
    }
    void gather();  // its callers, about one thing

    [[nodiscard]] bool satisfied();
    /// It observes nothing, or was told that nobody leads.
    [[nodiscard]] bool sees_nobody_lead() const { return !observer_ || observer_->sees_nobody(); }
    /// All of its callers are at rest, and all that it wrote is on its way.
    [[nodiscard]] bool at_rest();

    /// Its connection to the server is ready, and both directions carry on: for the checkers' eyes.
    [[nodiscard]] bool in_order(std::uint32_t server);

    /// Since when it could have asked the server at any time; instant::max(): it could not now.
    [[nodiscard]] instant able_since(std::uint32_t server);

  private:
    void gather_participants();
    void settle();
    void came_down(stream& which);

    process process_;
    network& network_;
    checkers& checkers_;
    fenced_register& register_;
    std::shared_ptr<simulated_environment> around_;
    runtime::engine_pointer engine_;
    std::array<runtime::plan_pointer, 8> plans_;
    std::unique_ptr<kind_wishes> wishes_;  // null: they want a mutex
    bool crashed_ = false;
    bool closed_ = false;
    std::vector<bool> ready_;          // each node, when it was last looked at
    std::vector<instant> able_since_;  // the same
    std::vector<std::unique_ptr<caller>> callers_;
    std::unique_ptr<observer> observer_;  // of an election; null: it has none
    std::unique_ptr<::holdfast::client> public_;
    std::vector<std::unique_ptr<participant>> participants_;  // of latches, instead of callers
};

}  // namespace holdfast::sim
