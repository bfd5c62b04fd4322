#pragma once

#include <optional>
#include <vector>

#include "core/backoff.hpp"
#include "core/judge.hpp"
#include "sim/checkers.hpp"
#include "sim/network.hpp"
#include "sim/process.hpp"

namespace holdfast::sim {

/// Who is told what came of a request.
class link_user {
  public:
    virtual void answered(core::node_index node, const request& asked, const value& answer) = 0;
    virtual void unknown(core::node_index node, const request& asked) = 0;
    virtual bool still_wanted(core::node_index node, const request& asked) = 0;
    virtual void told(core::node_index node) = 0;
    virtual void connected(core::node_index node) = 0;

  protected:
    ~link_user() = default;
};

/// A client's connection to one node: handshake, enlisting, heartbeats, deadlines, reconnects.
/// What it decides, `core::judge` and `core::backoff` decide.
///
///   down ---- timer ----> greeting ---- facts ----> enlisting ---- answer ----> ready
///     ^-------- broken, silent for too long, refused, emptied -----------------/
class link {
  public:
    link(process& of, network& on, checkers& watched, link_user& user, std::uint32_t node);

    void connect();

    [[nodiscard]] bool ready() const { return state_ == state::ready; }
    [[nodiscard]] core::judge::standing standing() const { return judge_.at(process_.local()); }

    /// How long it must not be asked for votes yet. REQUIRES: standing() is quarantined.
    [[nodiscard]] core::duration quarantine_left() const {
        return judge_.quarantined_until() - process_.local();
    }
    [[nodiscard]] std::uint64_t floor() const { return judge_.floor(); }
    [[nodiscard]] bool tracked() const;

    /// Ready, and the network lets it through: for the checkers' eyes only.
    [[nodiscard]] bool in_order() const;

    /// REQUIRES: ready().
    void send(request asked);

    void on_reply(connection_id from, const request& asked, const value& answer);
    void on_push(connection_id from);
    void on_emptied(connection_id from);
    void on_lost(connection_id which);

    enum class timer : std::uint8_t { deadline, heartbeat, reconnect };
    static constexpr process::slot timers = 3;
    void on_timer(timer which);

  private:
    enum class state : std::uint8_t { down, greeting, enlisting, ready };

    struct outstanding {
        request asked;
        core::time_point deadline;
        bool reported = false;  // as unknown
    };

    void transmit(request asked);
    void greet();
    void drop();
    void greeted(const value& facts);
    void enlist();
    void enlisted(const value& answer);
    void refused(const outstanding& which);
    void now_ready();
    void heartbeat(const request& asked, const value& answer);
    void check_deadlines();
    void watch_deadlines();
    void ask_again(const outstanding& missing);
    void settle_late(const request& asked);
    [[nodiscard]] core::time_point quiet_until() const;
    [[nodiscard]] process::slot slot_of(timer which) const {
        return node_.value * timers + static_cast<process::slot>(which);
    }

    process& process_;
    network& network_;
    checkers& checkers_;
    link_user& user_;
    core::node_index node_;
    core::judge judge_;
    core::backoff delay_;
    state state_ = state::down;
    connection_id connection_ = 0;
    std::uint32_t run_ = 0;
    std::uint32_t replication_ = 0;
    bool syncs_ = false;
    bool emptied_ = false;  // since the node was greeted
    core::time_point heard_{};
    std::vector<outstanding> waiting_;
};

}  // namespace holdfast::sim
