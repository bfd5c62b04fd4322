#include "sim/network.hpp"

#include <utility>

namespace holdfast::sim {

const char* name_of(operation what) {
    switch (what) {
        case operation::hello: return "hello";
        case operation::enlist: return "enlist";
        case operation::time: return "time";
        case operation::acquire: return "acquire";
        case operation::commit: return "commit";
        case operation::extend: return "extend";
        case operation::release: return "release";
    }
    return "?";
}

network::network(world& in) : world_(in), chance_(random(in.settings().seed).split(2)) {
    connections_.reserve(64);
}

connection_id network::open(std::uint32_t client, std::uint32_t node) {
    connections_.push_back({.client = client, .node = node});
    return static_cast<connection_id>(connections_.size() - 1);
}

void network::send_request(connection_id id, const request& asked, instant departure) {
    auto& c = connections_[id];
    if (hit(fault::reset_before)) {
        disturb(c.client, c.node, departure);
        break_connection(id);
        return;
    }
    const auto trip = travel(c, departure, true);
    if (!trip.arrives) return;
    const bool breaks = hit(fault::reset_after);
    const auto index = unused_message();
    auto& sent = messages_[index];
    sent.connection = id;
    sent.asked = asked;
    sent.breaks_after = breaks;
    world_.schedule(trip.at, event::kind::request_arrives, index);
    if (breaks) disturb(c.client, c.node, trip.at);
}

void network::send_reply(connection_id id, const request& asked, value&& answer) {
    auto& c = connections_[id];
    if (c.closed) return;
    const auto trip = travel(c, world_.now(), false);
    if (!trip.arrives) return;
    const auto index = unused_message();
    auto& sent = messages_[index];
    sent.connection = id;
    sent.asked = asked;
    sent.answer = std::move(answer);
    world_.schedule(trip.at, event::kind::reply_arrives, index);
}

void network::send_push(connection_id id) {
    auto& c = connections_[id];
    if (c.closed || (world_.faulty(fault::deaf_tracking) && chance_.per_mille(500))) return;
    const auto trip = travel(c, world_.now(), false);
    if (trip.arrives) world_.schedule(trip.at, event::kind::push_arrives, id);
}

void network::push_emptied(std::uint32_t node, std::uint32_t run) {
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        auto& c = connections_[i];
        if (c.node != node || c.run != run || !c.tracked || c.closed) continue;
        const auto trip = travel(c, world_.now(), false);
        const auto id = static_cast<connection_id>(i);
        if (trip.arrives) world_.schedule(trip.at, event::kind::emptied_arrives, id);
    }
}

void network::break_connection(connection_id id) {
    auto& c = connections_[id];
    if (c.closed) return;
    c.silent_up = c.silent_down = true;
    world_.schedule(world_.now() + draw_delay(c), event::kind::connection_lost, id);
}

void network::break_all_of(std::uint32_t node) {
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        if (connections_[i].node == node) break_connection(static_cast<connection_id>(i));
    }
}

void network::break_between(std::uint32_t client, std::uint32_t node) {
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        const auto& c = connections_[i];
        if (c.client == client && c.node == node) break_connection(static_cast<connection_id>(i));
    }
}

void network::cut(std::uint32_t client, std::uint32_t node, instant until, bool up, bool down) {
    if (up) cut_up_[client][node] = until;
    if (down) cut_down_[client][node] = until;
    disturb(client, node, until);
}

void network::mend() {
    cut_up_ = {};
    cut_down_ = {};
    slowness_ = {};
    for (std::uint32_t client = 0; client < most_clients; ++client) {
        disturb_client(client, world_.now());
    }
}

void network::disturb_node(std::uint32_t node, instant until) {
    for (std::uint32_t client = 0; client < most_clients; ++client) disturb(client, node, until);
}

void network::disturb_client(std::uint32_t client, instant until) {
    for (std::uint32_t node = 0; node < most_nodes; ++node) disturb(client, node, until);
}

std::uint32_t network::unused_message() {
    if (unused_.empty()) {
        messages_.emplace_back();
        return static_cast<std::uint32_t>(messages_.size() - 1);
    }
    const auto index = unused_.back();
    unused_.pop_back();
    return index;
}

// A lost segment is sent again later, or the whole direction falls silent for good. What was
// written into a cut waits for its end, or falls silent too.
network::journey network::travel(connection& c, instant departure, bool up) {
    auto& silent = up ? c.silent_up : c.silent_down;
    if (silent) return {.arrives = false};
    auto at = departure + draw_delay(c);
    const auto cut_until = (up ? cut_up_ : cut_down_)[c.client][c.node];
    if (cut_until > departure) {
        silent = chance_.coin();
        at += cut_until - departure;
    } else if (hit(fault::loss)) {
        silent = chance_.coin();
        at += chance_.between(core::duration{0}, world_.settings().longest_delay);
    }
    if (silent) {
        disturb(c.client, c.node, at);
        return {.arrives = false};
    }
    auto& last = up ? c.last_up : c.last_down;
    last = std::max(at, last + core::duration{1});
    if (last - departure > world_.settings().base_delay * 4) disturb(c.client, c.node, last);
    return {.arrives = true, .at = last};
}

core::duration network::draw_delay(const connection& c) {
    const auto base = world_.settings().base_delay;
    auto delay = base / 2 + chance_.between(core::duration{0}, base) + slowness_[c.node];
    if (world_.faulty(fault::delay) && chance_.per_mille(50)) {
        delay += chance_.between(core::duration{0}, world_.settings().longest_delay);
    }
    return delay;
}

bool network::hit(fault f) {
    return world_.faulty(f) && chance_.per_mille(world_.settings().rate_per_mille);
}

}  // namespace holdfast::sim
