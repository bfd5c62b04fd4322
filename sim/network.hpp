#pragma once

#include <array>
#include <deque>
#include <vector>

#include "sim/message.hpp"
#include "sim/world.hpp"

/// Connections between clients and nodes. Within one connection and direction messages arrive in
/// the order in which they were sent; between connections, in any. A client that closes a
/// connection cannot call back what it wrote: that may still arrive, after what it wrote to the
/// next connection.
namespace holdfast::sim {

class network {
  public:
    struct connection {
        std::uint32_t client = 0;
        std::uint32_t node = 0;
        std::uint32_t run = 0;     // the node's life in which it was accepted
        bool accepted = false;     // the node has seen it
        bool tracked = false;      // the node tells it when it is emptied, or a key changes
        bool closed = false;       // the client has given it up, or it broke
        bool silent_up = false;    // nothing more reaches the node
        bool silent_down = false;  // nothing more reaches the client
        instant last_up{};
        instant last_down{};
    };

    struct message {
        connection_id connection = 0;
        request asked{};
        value answer{};             // of a reply
        bool breaks_after = false;  // of a request: the connection breaks once it is delivered
    };

    explicit network(world& in);

    connection_id open(std::uint32_t client, std::uint32_t node);
    connection& at(connection_id id) { return connections_[id]; }

    /// The client's end gives up. What is under way to the node stays under way.
    void close(connection_id id) { connections_[id].closed = true; }

    void send_request(connection_id id, const request& asked, instant departure);
    void send_reply(connection_id id, const request& asked, value&& answer);
    void send_push(connection_id id);
    /// To everybody who is connected to this life of the node, and has asked for it.
    void push_emptied(std::uint32_t node, std::uint32_t run);

    /// The connection breaks; the client hears of it after the usual delay.
    void break_connection(connection_id id);
    /// The node went away: all of its connections break.
    void break_all_of(std::uint32_t node);
    /// Somebody ended a client's connections to the node (CLIENT KILL).
    void break_between(std::uint32_t client, std::uint32_t node);

    /// A message stays where it is until it is discarded, whatever is sent meanwhile.
    void discard(std::uint32_t index) { unused_.push_back(index); }
    [[nodiscard]] const message& peek(std::uint32_t index) const { return messages_[index]; }

    /// Nothing passes between them, in one direction or both, until `until`.
    void cut(std::uint32_t client, std::uint32_t node, instant until, bool up, bool down);
    void mend();

    void slow_down(std::uint32_t node, core::duration by) { slowness_[node] = by; }

    /// When the pair was last disturbed by anything that may have delayed or lost a message.
    [[nodiscard]] instant disturbed_at(std::uint32_t client, std::uint32_t node) const {
        return disturbed_[client][node];
    }
    void disturb(std::uint32_t client, std::uint32_t node, instant until) {
        auto& last = disturbed_[client][node];
        last = std::max(last, until);
    }
    void disturb_node(std::uint32_t node, instant until);
    void disturb_client(std::uint32_t client, instant until);

  private:
    static constexpr std::size_t most_clients = 8;
    static constexpr std::size_t most_nodes = 8;
    template <typename T>
    using per_pair = std::array<std::array<T, most_nodes>, most_clients>;

    struct journey {
        bool arrives = true;
        instant at{};
    };

    std::uint32_t unused_message();
    journey travel(connection& c, instant departure, bool up);
    core::duration draw_delay(const connection& c);
    bool hit(fault f);

    world& world_;
    random chance_;
    std::vector<connection> connections_;
    std::deque<message> messages_;
    std::vector<std::uint32_t> unused_;
    per_pair<instant> cut_up_{};
    per_pair<instant> cut_down_{};
    per_pair<instant> disturbed_{};
    std::array<core::duration, most_nodes> slowness_{};
};

}  // namespace holdfast::sim
