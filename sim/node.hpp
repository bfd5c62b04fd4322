#pragma once

#include <vector>

#include "sim/keyspace.hpp"
#include "sim/network.hpp"
#include "sim/script_set.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

inline constexpr std::string_view lock_key = "lock";

class checkers;

/// A server: the keyspace, a wall clock of its own, a script cache, and the tracking of who wants
/// to know when the lock's key changes. It crashes, restarts and stands still when told to.
class node final : keyspace_listener {
  public:
    enum class memory : std::uint8_t { full, partial, none };  // what a restart leaves

    node(world& in, network& on, script_set& scripts, checkers& watched, std::uint32_t index,
         const wall_clock& clock);
    node(const node&) = delete;
    node& operator=(const node&) = delete;

    /// A request has arrived. It is answered at once; a node that stands still gets it later.
    void receive(const network::message& message);

    void crash(memory left);
    void restart();
    void heal();
    void stand_still(instant until);
    void jump(core::duration by);
    void flush_all();
    void resynchronise();
    void refuse(instant until);
    void delete_lock();
    void flush_scripts() { loaded_ = 0; }
    void cycle();

    /// An operator vouches for a new server: it has nothing to have forgotten.
    void vouch();

    [[nodiscard]] bool up() const { return up_; }
    [[nodiscard]] bool stands_still() const { return world_.now() < still_until_; }
    [[nodiscard]] instant still_until() const { return still_until_; }
    [[nodiscard]] std::chrono::microseconds wall() const { return clock_.read(world_.now()); }

    /// Who owns the lock here, for the checkers' eyes only. 0: nobody.
    [[nodiscard]] owner_id owner() const;
    [[nodiscard]] bool owned_for_ever() const;

  private:
    void on_read(std::string_view key) override;
    void on_change(std::string_view key) override;

    value execute(const request& asked);
    value run_script(const request& asked);
    bool admit(network::connection& c, connection_id id);
    void enlist_by_hand(std::int64_t quarantine_ms);
    void tell_emptied();
    void plan_cycle();

    world& world_;
    network& network_;
    script_set& scripts_;
    checkers& checkers_;
    std::uint32_t index_;
    wall_clock clock_;
    keyspace data_;
    bool up_ = true;
    std::uint32_t run_ = 1;
    std::uint32_t replication_ = 0;  // 0: it was never a replica
    random chance_;
    bool syncs_ = false;  // every write, or so it says: whatever the life before may have lost
    instant refusing_until_{};
    instant still_until_{};
    std::uint32_t loaded_ = 0;  // a bit for every script in the cache
    connection_id caller_ = 0;
    bool serving_ = false;
    bool listening_ = false;  // the caller wants to be told of what it reads
    bool cycle_planned_ = false;
    std::uint64_t served_ = 0;
    std::vector<connection_id> curious_;  // to be told when the lock changes
};

}  // namespace holdfast::sim
