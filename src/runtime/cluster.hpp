#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/backoff.hpp"
#include "core/hash_slot.hpp"
#include "net/slot.hpp"
#include "net/slot_map.hpp"
#include "runtime/driving/driver.hpp"
#include "runtime/driving/timer_queue.hpp"

namespace holdfast::runtime {

class engine;

/// The Cluster of a client: which server serves which slot, and the slots that are in use.
///
/// The map is asked of any server that answers, a seed or one that the map named: when the first
/// slot is used, and again when a server named another one (MOVED), failed, or said that the
/// Cluster is down. One look is under way at a time, and between two there is a pause that grows
/// while they bring nothing new. What MOVED says of one slot is believed at once.
///
/// Servers are the client's nodes: made when the map first names them, known by their address,
/// kept for good, and at rest while they serve nothing. One connection each.
///
/// Slots are made when first used, and kept.
///
/// Everything is called with the client's lock held.
class cluster final : private net::slot::directory, private timer {
  public:
    /// Nodes number `first` and on are its servers, those that the engine has by now its seeds.
    cluster(engine& through, const net::slot::settings& how);
    ~cluster() override;

    /// Makes it, if it is new. Throws std::bad_alloc.
    net::slot& open(std::uint16_t number) HOLDFAST_LOCKED;
    /// REQUIRES: opened before.
    [[nodiscard]] net::slot& at(std::uint16_t number) const HOLDFAST_LOCKED {
        return *slots_[number];
    }

    void on_ready(net::node& which, core::time_point now) HOLDFAST_LOCKED;
    void on_down(net::node& which, const net::failure& why) noexcept HOLDFAST_LOCKED;
    /// A key changed that a server tells us of: it may be a record.
    /// The replicas of a server do not acknowledge: it may have been replaced, and not know.
    void on_unacknowledged(const net::node& which) noexcept HOLDFAST_LOCKED;
    void on_changed(net::node& which, std::string_view key) noexcept HOLDFAST_LOCKED;
    /// A server has stopped to pass on what is published to a channel.
    void on_unsubscribed(net::node& which, std::string_view channel) noexcept HOLDFAST_LOCKED;

    /// The records of a server's slots were written by ourselves: all are to be read again.
    void forget_records(const net::node& of) noexcept HOLDFAST_LOCKED;

    /// Where a write is carried out by this server, for its replicas to acknowledge.
    [[nodiscard]] net::acknowledgement::place place_at(net::node& which,
                                                       bool another) HOLDFAST_LOCKED;

    void expire(core::time_point now) noexcept HOLDFAST_LOCKED;
    [[nodiscard]] core::time_point wake_at() const HOLDFAST_LOCKED;
    /// Fails what waits, and asks for nothing more.
    void close(const net::failure& why) noexcept HOLDFAST_LOCKED;

    /// Of the slots that were used; zero: none is in one.
    [[nodiscard]] core::duration longest_quarantine(core::time_point now) const HOLDFAST_LOCKED;

    /// Returns when there is a map, asked for after the call; or why there is none. REQUIRES:
    /// `lock` held.
    std::optional<net::failure> look(base::client_lock& lock) HOLDFAST_LOCKED;
    [[nodiscard]] const net::slot_map& map() const HOLDFAST_LOCKED { return map_; }
    /// The shard of a server, and how many of its replicas have to know what counts. nullopt: of
    /// how many there are, which is not known.
    [[nodiscard]] std::optional<core::replication> group_of(const net::node& which) HOLDFAST_LOCKED;
    /// How many servers there are in the shard of one.
    [[nodiscard]] net::shard_size size_around(const net::node& which) override HOLDFAST_LOCKED;
    /// The server of a master of the map.
    [[nodiscard]] net::node& server(std::size_t master) HOLDFAST_LOCKED {
        return *servers_[master];
    }

  private:
    class map_request;

    [[nodiscard]] clock::time_point present() const noexcept override;
    [[nodiscard]] net::node* server_of(net::slot& which) override HOLDFAST_LOCKED;
    [[nodiscard]] net::node& target_of(net::slot& which, const net::redirection& where,
                                       const net::node& by) override HOLDFAST_LOCKED;
    void moved(net::slot& which, const net::redirection& where,
               const net::node& by) override HOLDFAST_LOCKED;
    void unsettled() noexcept override HOLDFAST_LOCKED;
    void on_waiting(net::slot& which) override HOLDFAST_LOCKED;
    void on_ready(net::slot& which) override HOLDFAST_LOCKED;
    void on_caught_up(net::slot& which) override HOLDFAST_LOCKED;
    void on_appended() noexcept override HOLDFAST_LOCKED;
    void due(core::time_point now) noexcept override HOLDFAST_LOCKED;

    void start_look(core::time_point now) noexcept HOLDFAST_LOCKED;
    void ask_next(core::time_point now) noexcept HOLDFAST_LOCKED;
    [[nodiscard]] net::node* next_to_ask() HOLDFAST_LOCKED;
    [[nodiscard]] int reluctance_to_ask(const net::node& whom) const HOLDFAST_LOCKED;
    void doubt(const net::node& whom) noexcept HOLDFAST_LOCKED;
    void on_map(net::node& by, const std::string& its_id, net::slot_map found) HOLDFAST_LOCKED;
    void on_no_map(const net::failure& why) noexcept HOLDFAST_LOCKED;
    void end_look(const std::optional<net::failure>& why, bool news) noexcept HOLDFAST_LOCKED;
    void place_servers() HOLDFAST_LOCKED;
    [[nodiscard]] net::node& node_at(const std::string& host, std::uint16_t port,
                                     const std::string& id) HOLDFAST_LOCKED;
    [[nodiscard]] std::optional<std::size_t> place_of(const net::node& which) const HOLDFAST_LOCKED;
    [[nodiscard]] bool serves(const net::node& which) const HOLDFAST_LOCKED;
    [[nodiscard]] std::optional<std::uint16_t> some_slot_of(const net::node& which) HOLDFAST_LOCKED;
    void rest_idle_servers() noexcept HOLDFAST_LOCKED;
    void call_those_needed(core::time_point now) HOLDFAST_LOCKED;

    engine& engine_;
    net::slot::settings settings_;
    std::vector<std::unique_ptr<net::slot>> slots_;
    std::vector<net::slot*> restless_;  // in which something may wait

    net::slot_map map_;
    std::vector<net::node*> servers_;          // of the map's masters
    std::map<std::string, net::node*> by_id_;  // that told their own
    bool known_ = false;                       // there is a map
    bool unsized_ = false;                     // it names a server that it learned of by MOVED

    std::map<const net::node*, std::uint16_t> written_;    // the slot of the last place_at()
    std::map<const net::node*, std::uint16_t> importing_;  // a slot that is moved there

    bool looking_ = false;
    bool closed_ = false;
    bool tidies_ = false;
    std::vector<const net::node*> asked_;  // in this look
    std::set<const net::node*> doubted_;   // that told nothing new when something was wrong
    net::node* hint_ = nullptr;            // who should know best
    net::failure why_not_;
    core::backoff pause_;
    core::time_point not_before_{};
    std::vector<waiter*> waiting_;  // for the end of a look
    std::optional<net::failure> outcome_;
};

}  // namespace holdfast::runtime
