#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/checkers.hpp"
#include "sim/client.hpp"
#include "sim/network.hpp"
#include "sim/node.hpp"
#include "sim/register.hpp"
#include "sim/script_set.hpp"
#include "sim/world.hpp"

/// One run of one plan: a minute with faults, then none, and everybody must get the lock.
namespace holdfast::sim {

struct outcome {
    std::optional<violation> found{};
    std::string trace{};
    instant simulated{};
    std::uint64_t events = 0;
    std::uint64_t attempts = 0;
    std::uint64_t acquired = 0;
};

class simulation {
  public:
    simulation(const plan& settings, script_set& scripts, bool traced);

    outcome run();

  private:
    struct incident {
        fault what{};
        instant at{};
        core::duration lasts{};
        std::uint32_t node = 0;
        std::uint32_t client = 0;
        core::duration size{};
    };

    void build();
    void plan_incidents();
    incident draw_incident(fault what, random& chance) const;

    void dispatch(const event& e);
    void request_arrives(const event& e);
    bool postponed(const event& e, std::uint32_t client);
    void reply_arrives(const event& e);
    void client_timer(const event& e);
    void begin(const incident& what);
    void end(const incident& what);
    void part(const incident& what);
    void lie_in_wait(const incident& what);
    void spring(const network::message& arrived);
    void forget(const incident& what);
    void inspect(owner_id who);
    void heal();
    void give_up();
    void close();
    void say(const incident& what, const char* how);
    [[nodiscard]] bool satisfied() const;

    plan settings_;
    world world_;
    network network_;
    checkers checkers_;
    fenced_register register_;
    script_set& scripts_;
    std::vector<std::unique_ptr<node>> nodes_;
    std::vector<std::unique_ptr<client>> clients_;
    std::vector<incident> incidents_;
    std::optional<std::uint32_t> lurking_;  // the incident that waits for a handshake
    bool done_ = false;
    bool closing_ = false;
};

}  // namespace holdfast::sim
