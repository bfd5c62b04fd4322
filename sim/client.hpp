#pragma once

#include <memory>
#include <vector>

#include "core/courtesy.hpp"
#include "core/local_line.hpp"
#include "core/owed_releases.hpp"
#include "sim/link.hpp"
#include "sim/register.hpp"
#include "sim/worker.hpp"

namespace holdfast::sim {

/// One process: a link to every node, its callers, and their line.
class client final : link_user {
  public:
    client(world& in, network& on, checkers& watched, fenced_register& shared, std::uint32_t index,
           const machine_clock& clock);
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    void start();

    // Events, from the simulation.
    void on_reply(connection_id from, const request& asked, const value& answer);
    void on_push(connection_id from);
    void on_emptied(connection_id from);
    void on_lost(connection_id which);
    void on_timer(process::slot slot, std::uint32_t generation);
    void healed();

    [[nodiscard]] process& self() { return process_; }
    [[nodiscard]] checkers& watched() { return checkers_; }
    [[nodiscard]] core::local_line& line() { return line_; }
    [[nodiscard]] core::courtesy& manners() { return manners_; }
    [[nodiscard]] core::rivalry& rivals() { return rivals_; }
    [[nodiscard]] link& to(core::node_index node) { return *links_[node.value]; }
    [[nodiscard]] bool satisfied() const;  // or never to be
    [[nodiscard]] bool idle() const;

    void gather();  // its callers, about one thing

    [[nodiscard]] worker* find(std::optional<core::local_id> who);

    /// Hands the turn to whoever the line says.
    void pass_turn(std::optional<core::local_id> next, const core::courtesy::gap& left = {});

    /// Sends a release now if the node is in reach; keeps it as owed until it is answered.
    void release_on(core::node_index node, const request& asked, core::time_point until,
                    bool may_have_landed);

    /// Updates what the lock protects, in its own time.
    void visit_register(owner_id who, core::fencing_token token);

    static constexpr std::size_t worker_slots_from = 24;

  private:
    void answered(core::node_index node, const request& asked, const value& answer) override;
    void unknown(core::node_index node, const request& asked) override;
    bool still_wanted(core::node_index node, const request& asked) override;
    void told(core::node_index node) override;
    void connected(core::node_index node) override;
    void send_owed(core::node_index node);

    process process_;
    network& network_;
    checkers& checkers_;
    fenced_register& register_;
    core::local_line line_;
    core::courtesy manners_;
    core::rivalry rivals_;
    core::owed_releases<owner_id> owed_;
    std::vector<std::unique_ptr<link>> links_;
    std::vector<std::unique_ptr<worker>> workers_;
};

}  // namespace holdfast::sim
