#include "sim/world/network.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {
namespace {

constexpr unsigned most_pieces = 5;

}  // namespace

network::network(world& in)
    : world_(in),
      chance_(random(in.settings().seed).split(2)),
      noticing_(random(in.settings().seed).split(7)) {
    streams_.reserve(64);
}

std::shared_ptr<stream> network::make(process& of, std::uint32_t server,
                                      net::transport::events& whom) {
    const auto id = static_cast<std::uint32_t>(streams_.size());
    streams_.push_back(std::make_shared<stream>(*this, of, id, server, whom));
    return streams_.back();
}

bool network::nothing_goes_up() const {
    return std::ranges::all_of(streams_, [](const auto& each) { return each->up.empty(); });
}

void network::connect(stream& which) {
    const auto trip = travel(which, which.of().now(), true);
    if (trip.arrives) world_.schedule(trip.at, event::kind::connect_arrives, which.id());
}

void network::answer_connect(stream& which, bool refused) {
    const auto trip = travel(which, world_.now(), false);
    if (!trip.arrives) return;
    world_.schedule(trip.at, event::kind::connected, which.id(), refused ? 1 : 0);
}

// A kernel whose buffers are full takes a part, or nothing at all.
std::size_t network::room_for(stream&, std::size_t bytes) {
    if (!world_.faulty(fault::pieces) || !chance_.per_mille(30)) return bytes;
    return chance_.below(bytes);
}

void network::drain(stream& which) {
    const auto lasts = chance_.between(core::duration{0}, world_.settings().base_delay * 4);
    world_.schedule(which.of().now() + lasts, event::kind::writable, which.id());
}

void network::carry_up(stream& which, std::string_view bytes) {
    const auto departure = which.of().now();
    if (hit(fault::reset_before)) {
        disturb(which.of().index(), which.server(), departure);
        return break_connection(which);
    }
    const bool breaks = hit(fault::reset_after);
    carry(which, bytes, {.departed = departure, .breaks_after = breaks}, true);
}

void network::carry_down(stream& which, std::string_view bytes, bool with_push) {
    which.sent_down += bytes.size();
    const bool lost = with_push && world_.faulty(fault::deaf_tracking) && chance_.per_mille(300);
    if (lost && chance_.coin()) return break_connection(which);
    if (lost) {
        which.silent_down = true;
        disturb(which.of().index(), which.server(), world_.now());
    }
    carry(which, bytes, {.departed = world_.now()}, false);
}

void network::carry(stream& which, std::string_view bytes, flight::piece how, bool up) {
    if (world_.faulty(fault::pieces) && chance_.per_mille(300)) {
        for (auto left = chance_.below(most_pieces); left > 0 && bytes.size() > 1; --left) {
            const auto size = 1 + chance_.below(bytes.size() - 1);
            carry_piece(which, bytes.substr(0, size), {.departed = how.departed}, up);
            bytes.remove_prefix(size);
        }
    }
    carry_piece(which, bytes, how, up);
}

void network::carry_piece(stream& which, std::string_view bytes, flight::piece how, bool up) {
    const auto trip = travel(which, how.departed, up);
    if (!trip.arrives) return;
    how.size = bytes.size();
    (up ? which.up : which.down).push(bytes, how);
    world_.schedule(trip.at, up ? event::kind::bytes_go_up : event::kind::bytes_come_down,
                    which.id());
    if (how.breaks_after) disturb(which.of().index(), which.server(), trip.at);
}

// The client's end gives up. What is under way to the server stays under way.
void network::hang_up(stream& which) {
    const auto trip = travel(which, which.of().now(), true);
    if (trip.arrives) world_.schedule(trip.at, event::kind::close_arrives, which.id());
}

void network::close_down(stream& which) {
    const auto trip = travel(which, world_.now(), false);
    which.silent_up = which.silent_down = true;
    if (trip.arrives) tell_broken(which, trip.at);
}

// A server that does not hear of it keeps what the connection has subscribed to, and counts it
// among those whom a message has reached.
void network::break_connection(stream& which) {
    which.silent_up = which.silent_down = true;
    const auto heard = world_.now() + draw_delay(which);
    tell_broken(which, heard);
    if (which.session == 0 || !noticing_.coin()) return;
    which.last_up = std::max(heard, which.last_up + core::duration{1});
    world_.schedule(which.last_up, event::kind::close_arrives, which.id());
}

void network::tell_broken(stream& which, instant at) {
    if (which.closed() || std::exchange(which.break_told, true)) return;
    world_.schedule(at, event::kind::break_heard, which.id());
}

void network::break_between(std::uint32_t client, std::uint32_t server) {
    for (auto& each : streams_) {
        const bool theirs = each->server() == server && each->of().index() == client;
        if (theirs && !each->closed()) break_connection(*each);
    }
}

void network::break_all_of(std::uint32_t server) {
    for (auto& each : streams_) {
        if (each->server() == server && !each->closed()) break_connection(*each);
    }
}

void network::cut(std::uint32_t client, std::uint32_t server, instant until, bool up, bool down) {
    if (up) cut_up_[client][server] = until;
    if (down) cut_down_[client][server] = until;
    disturb(client, server, until);
}

void network::mend() {
    cut_up_ = {};
    cut_down_ = {};
    slowness_ = {};
    for (std::uint32_t client = 0; client < most_clients; ++client) {
        disturb_client(client, world_.now());
    }
}

void network::disturb_server(std::uint32_t server, instant until) {
    for (std::uint32_t client = 0; client < most_clients; ++client) disturb(client, server, until);
}

void network::disturb_client(std::uint32_t client, instant until) {
    for (std::uint32_t server = 0; server < most_servers; ++server) disturb(client, server, until);
}

// A lost segment is sent again later, or the whole direction falls silent for good. What was
// written into a cut waits for its end, or falls silent too.
network::journey network::travel(stream& which, instant departure, bool up) {
    auto& silent = up ? which.silent_up : which.silent_down;
    if (silent) return {.arrives = false};
    const auto client = which.of().index();
    auto at = departure + draw_delay(which);
    const auto cut_until = (up ? cut_up_ : cut_down_)[client][which.server()];
    if (cut_until > departure) {
        silent = chance_.coin();
        at += cut_until - departure;
    } else if (hit(fault::loss)) {
        silent = chance_.coin();
        at += chance_.between(core::duration{0}, world_.settings().longest_delay);
    }
    if (silent) {
        disturb(client, which.server(), at);
        return {.arrives = false};
    }
    auto& last = up ? which.last_up : which.last_down;
    last = std::max(at, last + core::duration{1});
    const auto took = last - departure;
    if (took > world_.settings().base_delay * 4) disturb(client, which.server(), last);
    // With the way back it may be too late to be waited for, and no reason to connect anew.
    if (took * 2 > world_.settings().node_timeout) {
        disturb(client, which.server(), last + longest_pause);
    }
    return {.arrives = true, .at = last};
}

core::duration network::draw_delay(const stream& which) {
    const auto base = world_.settings().base_delay;
    auto delay = base / 2 + chance_.between(core::duration{0}, base) + slowness_[which.server()];
    if (world_.faulty(fault::delay) && chance_.per_mille(50)) {
        delay += chance_.between(core::duration{0}, world_.settings().longest_delay);
    }
    return delay;
}

bool network::hit(fault f) {
    return world_.faulty(f) && chance_.per_mille(world_.settings().rate_per_mille);
}

}  // namespace holdfast::sim
