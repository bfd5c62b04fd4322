// How faults begin and end: the other half of `sim/world/simulation.hpp`.

#include <array>

#include "sim/world/simulation.hpp"

namespace holdfast::sim {
namespace {

using condition = server::condition;

constexpr std::array illnesses{condition::loading, condition::busy, condition::out_of_memory,
                               condition::cannot_persist};

// Commands of the handshake and later ones; the last are of the queue that an only server has.
constexpr std::array<std::string_view, 17> commands{"hello",
                                                    "client|setname",
                                                    "client|tracking",
                                                    "info",
                                                    "script|load",
                                                    "eval",
                                                    "evalsha",
                                                    "set",
                                                    "time",
                                                    "client|caching",
                                                    "subscribe",
                                                    "publish",
                                                    "rpush",
                                                    "lpop",
                                                    "lrem",
                                                    "llen",
                                                    "lpos"};
constexpr std::size_t commands_of_quorums = 10;

std::string_view command_for(const plan& settings, std::uint32_t variety) {
    if (settings.grouped() && variety % 8 == 0) return "wait";
    return commands[variety % (settings.nodes == 1 ? commands.size() : commands_of_quorums)];
}

// Where a server may lose its last writes, T2 assumes that it may be asked for its life, and tells
// when it is emptied. A guarded client asks for no vote otherwise.
bool is_assumed_to_be_permitted(const plan& settings, std::string_view command) {
    const bool tells = command == "hello" || command == "client|tracking" || command == "info";
    return tells && settings.forgets() && !settings.restart_guard;
}

}  // namespace

void simulation::begin(const incident& what) {
    if (world_.healed()) return;
    say(what, "begins");
    switch (what.what) {
        case fault::partition:
        case fault::deafness: return part(what);
        case fault::client_pause:
            if (clients_[what.client]->self().paused()) return;
            return clients_[what.client]->self().pause(what.lasts);
        case fault::client_crash:
            if (what.variety % 2 == 0 || settings_.of_other_kind()) {
                return crash(*clients_[what.client]);
            }
            return hosts_.front()->await_grant_to(
                what.client, static_cast<std::uint32_t>(&what - incidents_.data()), what.lasts);
        case fault::key_deleted:
            if (settings_.alone()) checkers_.pace().deleted(sight());
            for (auto& each : hosts_) each->delete_lock();
            return;
        case fault::failover:
        case fault::isolation:
        case fault::replica_lag: return group_->begin(what);
        case fault::stale_sentinel:
            group_->begin(what);
            return world_.schedule(world_.now() + what.lasts, event::kind::fault_ends,
                                   static_cast<std::uint32_t>(&what - incidents_.data()));
        default: return begin_at(*hosts_[what.server], what);
    }
}

// Half of what happens in a group happens to its master.
void simulation::aim(incident& what) const {
    if (what.variety % 2 == 0) what.server = group_->master();
}

void simulation::begin_at(host& at, const incident& what) {
    const auto until = world_.now() + what.lasts;
    const auto index = static_cast<std::uint32_t>(&what - incidents_.data());
    switch (what.what) {
        case fault::crash_full:
        case fault::crash_partial:
        case fault::crash_empty:
            if (!at.up()) return;
            at.crash(what.what == fault::crash_full      ? server::memory::full
                     : what.what == fault::crash_partial ? server::memory::partial
                                                         : server::memory::none);
            return world_.schedule(until, event::kind::fault_ends, index);
        case fault::node_pause: return at.stand_still(until);
        case fault::wall_jump: return at.jump(what.size);
        case fault::flushall:
            if (settings_.interrupts) return at.lie_in_wait_for(what.client, index, what.lasts);
            return at.flush_all();
        case fault::script_flush: return at.flush_scripts();
        case fault::client_kill: return at.kill_connections();
        case fault::permission: {
            const auto command = command_for(settings_, what.variety);
            if (is_assumed_to_be_permitted(settings_, command)) return;
            return at.forbid(command, until);
        }
        case fault::refusal:
            at.fall_ill(illnesses[what.variety % illnesses.size()], until);
            return world_.schedule(until, event::kind::fault_ends, index);
        case fault::resync:
            if (settings_.interrupts) return at.lie_in_wait_for(what.client, index, what.lasts);
            [[fallthrough]];
        case fault::demotion: {
            const bool at_once = what.variety % 2 == 0;
            at.demote(what.what == fault::resync, at_once ? world_.now() : until);
            if (!at_once) world_.schedule(until, event::kind::fault_ends, index);
            return;
        }
        default: return;
    }
}

void simulation::end(const incident& what) {
    const bool lay_in_wait =
        settings_.interrupts && (what.what == fault::flushall || what.what == fault::resync);
    const bool crashes = what.what == fault::client_crash;
    if ((lay_in_wait || crashes) && world_.healed()) return;
    say(what, lay_in_wait || crashes ? "happens" : "ends");
    if (crashes) return crash(*clients_[what.client]);
    if (what.what == fault::stale_sentinel) return world_.healed() ? void() : group_->end(what);
    auto& at = *hosts_[what.server];
    switch (what.what) {
        case fault::refusal: return at.recover();
        case fault::flushall: return at.flush_all();
        case fault::resync:
            return settings_.interrupts ? at.demote(true, world_.now()) : at.promote();
        case fault::demotion: return at.promote();
        default: return at.restart();
    }
}

// Of its connections the server hears the end, or does not.
void simulation::crash(client& whom) {
    if (whom.crashed()) return;
    whom.crash();
    for (std::uint32_t s = 0; s < settings_.nodes; ++s) {
        network_.break_between(whom.self().index(), s);
    }
}

// One client or one server is cut off from the rest, or a single pair from each other.
void simulation::part(const incident& what) {
    const auto until = world_.now() + what.lasts;
    const auto shape = what.lasts.count() % 3;
    const bool both = what.what == fault::partition;
    const bool up = both || what.lasts.count() % 2 == 0;
    const bool down = both || !up;
    for (std::uint32_t c = 0; c < settings_.clients; ++c) {
        for (std::uint32_t s = 0; s < settings_.machines(); ++s) {
            const bool hit = shape == 0   ? c == what.client
                             : shape == 1 ? s == what.server
                                          : c == what.client && s == what.server;
            if (hit) network_.cut(c, s, until, up, down);
        }
    }
}

void simulation::say(const incident& what, const char* how) {
    if (!world_.traced()) return;
    const auto name = std::string(name_of(what.what));
    world_.tracer().line(world_.now(), "FAULT", "%s %s: server %u, client %u, %.3f s, size %.3f s",
                         name.c_str(), how, what.server, what.client,
                         static_cast<double>(what.lasts.count()) / 1e9,
                         static_cast<double>(what.size.count()) / 1e9);
}

}  // namespace holdfast::sim
