#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kinds/election.hpp"
#include "net/enlisting.hpp"
#include "sim/check/checkers.hpp"
#include "sim/server/server.hpp"
#include "sim/world/network.hpp"

namespace holdfast::sim {

class host_watcher {
  public:
    virtual void went_down(std::uint32_t server) = 0;
    virtual void came_up(std::uint32_t server) = 0;
    virtual void went_silent(std::uint32_t server) = 0;

  protected:
    ~host_watcher() = default;
};

/// The machine of one server: its end of the connections, its wall clock, and what goes wrong
/// there.
class host final : server_wire, server_listener {
  public:
    host(world& in, network& on, script_library& scripts, checkers& watched, std::uint32_t index,
         const wall_clock& clock);
    host(const host&) = delete;
    host& operator=(const host&) = delete;

    // Events, from the simulation. One that stands still gets them later.
    void connect_arrives(stream& by);
    void bytes_arrive(stream& by);
    void close_arrives(stream& by);
    void cycle();
    void wait_ends();

    void crash(server::memory left);
    void restart();
    void heal();
    void stand_still(instant until);
    void jump(core::duration by);
    void flush_all();
    void flush_scripts() { server_.flush_scripts(); }
    void kill_connections();
    void delete_lock();
    /// Made a replica, given another's data or what was missing, and promoted again, perhaps at
    /// once: clients stay connected.
    void demote(bool in_full, instant until);
    void promote();
    /// Refuses what a server in such a state refuses; and one command, for lack of a right to it.
    void fall_ill(server::condition how, instant until);
    void recover();
    void forbid(std::string_view command, instant until);

    // In a replication group: what the others do to it.
    void watch(host_watcher* whom) { watcher_ = whom; }
    [[nodiscard]] server& serves() { return server_; }
    [[nodiscard]] const server& serves() const { return server_; }
    void follow(const std::string& master);
    void load(const snapshot& all);
    void apply(const transaction_pointer& next);
    void acknowledged(std::uint32_t replica, std::int64_t offset);
    /// About when its clock will show that, as of now.
    [[nodiscard]] instant when(std::int64_t wall_ms) const { return clock_.when(wall_ms); }

    /// An operator has vouched for a new server, long ago: it has nothing to have forgotten, and no
    /// crash takes the record of that away.
    void vouch();

    /// The client has to connect again; when it has greeted the server, the incident ends soon.
    void lie_in_wait_for(std::uint32_t client, std::uint32_t incident, core::duration lasts);

    /// When the client is granted the lock by somebody else, the incident ends soon.
    void await_grant_to(std::uint32_t client, std::uint32_t incident, core::duration lasts) {
        doomed_.push_back({.client = client, .incident = incident, .lasts = lasts});
    }

    [[nodiscard]] bool up() const { return server_.up(); }
    [[nodiscard]] bool stands_still() const { return world_.now() < still_until_; }
    [[nodiscard]] instant still_until() const { return still_until_; }
    [[nodiscard]] std::chrono::microseconds wall() const { return clock_.read(world_.now()); }

    /// Who holds the lock here, for the checkers' eyes only.
    [[nodiscard]] std::vector<owner_id> owners() const;
    [[nodiscard]] bool holds(std::string_view owner) const;
    [[nodiscard]] bool holds_for(std::string_view owner, instant until) const;
    /// Something is left of those who read.
    [[nodiscard]] bool has_readers() const {
        return server_.data().peek(readers_key, wall()) != nullptr;
    }
    [[nodiscard]] bool has_lock() { return server_.data().peek(lock_key, wall()) != nullptr; }
    /// Until when all of this is the owner's, and nobody has anything: of other kinds than mutexes.
    [[nodiscard]] bool holds_for(std::string_view owner, places what, instant until) const {
        const auto ends =
            held_until_ms(server_.data(), world_.settings().kind, owner, what, wall());
        return ends != 0 && (ends == for_ever_ms || clock_.when(ends) >= until);
    }
    [[nodiscard]] bool notes(const leader_watch::leading& who) const {
        const auto* const found = server_.data().peek(kinds::leader_key(election_key), wall());
        return found != nullptr &&
               found->text == std::to_string(who.term) + "\n" + who.owner + "\n" + who.value;
    }
    [[nodiscard]] std::size_t in_line() const {
        return sim::in_line(server_.data(), world_.settings().kind, wall());
    }
    [[nodiscard]] bool is_deserted() const {
        return sim::is_deserted(server_.data(), world_.settings().kind, wall());
    }
    /// Somebody stands in line here, or is thought to.
    [[nodiscard]] bool has_queue() { return !queue().empty(); }
    [[nodiscard]] bool has_in_line(std::string_view owner) const;
    [[nodiscard]] std::span<const std::string> queue() const;
    [[nodiscard]] const std::string* lock() const {
        const auto* const found = server_.data().peek(lock_key, wall());
        return found == nullptr ? nullptr : &found->text;
    }

  private:
    void reply(connection to, std::string_view bytes) override { append(to, bytes, false); }
    void push(connection to, std::string_view bytes) override { append(to, bytes, true); }
    void hang_up(connection whom) override;
    void executed(const execution& what) override;

    void append(connection to, std::string_view bytes, bool is_push);
    void send_outboxes();
    void send_outbox(stream& which);
    stream* find(connection whom);
    bool belongs_here(stream& by);
    [[nodiscard]] std::uint32_t client_of(const stream& which) const;
    void greeted_by(std::uint32_t client);
    void granted(const execution& by);
    [[nodiscard]] bool forbids(std::string_view command) const {
        return world_.now() < forbidden_until_ && command == forbidden_;
    }
    void keep_time();
    /// A crash loses the writes of the last second.
    [[nodiscard]] std::int64_t last_kept() const {
        return (world_.now() - core::duration{std::chrono::seconds(1)}).count();
    }
    void enlist_by_hand(net::enlisting how);
    std::string_view why_not(const asked_command& what);
    [[nodiscard]] bool keeps_for_ever(std::string_view key) const;
    server_settings draw_settings();
    /// Of the locks.
    [[nodiscard]] const keyspace::entry* next_to_expire() const;
    void plan_cycle();
    void plan_wait();
    void settle();

    world& world_;
    network& network_;
    checkers& checkers_;
    std::uint32_t index_;
    wall_clock clock_;
    random chance_;
    server server_;
    std::uint32_t life_ = 1;
    std::vector<stream*> sessions_;  // by the server's numbers
    std::vector<stream*> to_send_;
    const stream* serving_ = nullptr;
    instant departed_{};
    instant still_until_{};
    instant forbidden_until_{};
    std::string_view forbidden_;
    bool cycle_planned_ = false;
    instant wait_planned_ = instant::max();
    host_watcher* watcher_ = nullptr;
    struct ambush {
        std::uint32_t client = 0;
        std::uint32_t incident = 0;
        core::duration lasts{};
    };
    std::optional<ambush> ambush_{};
    std::vector<ambush> doomed_;
    std::uint64_t served_ = 0;
};

}  // namespace holdfast::sim
