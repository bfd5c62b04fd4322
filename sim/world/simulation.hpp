#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/world/client.hpp"
#include "sim/world/group.hpp"
#include "sim/world/host.hpp"
#include "sim/world/incident.hpp"

namespace holdfast::sim {

struct outcome {
    std::optional<violation> found{};
    std::string trace{};
    instant simulated{};
    std::uint64_t events = 0;
    std::uint64_t attempts = 0;
    std::uint64_t acquired = 0;
    std::uint64_t handed_off = 0;
    std::uint64_t read_together = 0;
    std::uint64_t downgrades = 0;
    std::uint64_t held_together = 0;
    std::uint64_t tidings = 0;
    std::uint64_t latches_passed = 0;
    std::uint64_t fail_overs = 0;
};

/// One run of one plan: a quarter of a minute with faults, then none, and everybody must get the
/// lock.
class simulation final : network_listener, key_watch {
  public:
    simulation(const plan& settings, script_library& scripts, bool traced);

    outcome run();

  private:
    void build(script_library& scripts);
    void plan_incidents();

    void dispatch(const event& e);
    [[nodiscard]] bool concerns_client(event::kind what) const;
    void at_client(const event& e);
    void at_server(const event& e);
    void at_sentinel(const event& e, sentinel_host& at);
    void was_read(const stream& which) override;
    void make_use_of_reads(const process& reader);
    [[nodiscard]] std::size_t backing(std::string_view owner, places what,
                                      instant until) const override;
    [[nodiscard]] std::size_t noting_others(const leader_watch::leading& who) const override;
    void aim(incident& what) const;
    void begin(const incident& what);
    void begin_at(host& at, const incident& what);
    void end(const incident& what);
    void part(const incident& what);
    void crash(client& whom);
    void inspect(owner_id who);
    void look_at_line();
    [[nodiscard]] line_pace::sight sight();
    void look_whether_done();
    void end_story();
    void heal();
    void give_up();
    void close();
    void say(const incident& what, const char* how);
    [[nodiscard]] bool satisfied() const;
    [[nodiscard]] bool nothing_left();

    struct reading_done {
        std::uint32_t stream = 0;
        std::uint64_t bytes = 0;  // of it, so far
    };

    plan settings_;
    world world_;
    network network_;
    checkers checkers_;
    fenced_register register_;
    std::vector<reading_done> reads_;  // in the present event; a client reads while it is closed
    std::vector<std::unique_ptr<host>> hosts_;
    std::unique_ptr<group> group_;  // null: they stand alone
    std::vector<std::unique_ptr<client>> clients_;
    std::vector<incident> incidents_;
    bool done_ = false;
    instant ended_at_{};
    bool closing_ = false;
};

}  // namespace holdfast::sim
