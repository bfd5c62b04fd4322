#include "sim/simulation.hpp"

#include <algorithm>
#include <array>

namespace holdfast::sim {
namespace {

// Faults that happen at a time and a place; the others are properties of every message or clock.
constexpr std::array incidents_of{fault::partition,     fault::deafness,    fault::crash_full,
                                  fault::crash_partial, fault::crash_empty, fault::node_pause,
                                  fault::client_pause,  fault::wall_jump,   fault::flushall,
                                  fault::script_flush,  fault::resync,      fault::refusal,
                                  fault::key_deleted};

constexpr std::uint64_t most_events = 500'000;  // a busy run has a tenth of it

std::int64_t draw_rate(random& chance, std::int64_t most) {
    if (most == 0) return 0;
    return chance.coin() ? (chance.coin() ? most : -most) : chance.between(-most, most);
}

}  // namespace

simulation::simulation(const plan& settings, script_set& scripts, bool traced)
    : settings_(settings),
      world_(settings_, traced),
      network_(world_),
      checkers_(world_, network_),
      register_(world_, checkers_),
      scripts_(scripts) {
    build();
    plan_incidents();
}

void simulation::build() {
    auto chance = random(settings_.seed).split(3);
    for (std::uint32_t i = 0; i < settings_.nodes; ++i) {
        const auto skew = chance.between(-settings_.wall_skew, settings_.wall_skew);
        const wall_clock clock{skew, draw_rate(chance, settings_.rate_ppm)};
        nodes_.push_back(std::make_unique<node>(world_, network_, scripts_, checkers_, i, clock));
        if (settings_.restart_guard) nodes_.back()->vouch();
    }
    if (settings_.has(fault::slow_node)) {
        network_.slow_down(static_cast<std::uint32_t>(chance.below(settings_.nodes)),
                           chance.between(core::duration{0}, settings_.node_timeout));
    }
    for (std::uint32_t i = 0; i < settings_.clients; ++i) {
        const auto offset = chance.between(core::duration{0}, core::duration{1'000'000'000'000});
        const machine_clock clock{offset, draw_rate(chance, settings_.rate_ppm)};
        clients_.push_back(
            std::make_unique<client>(world_, network_, checkers_, register_, i, clock));
    }
}

void simulation::plan_incidents() {
    for (const auto what : incidents_of) {
        if (!settings_.has(what)) continue;
        auto chance = random(settings_.seed).split(200 + static_cast<unsigned>(what));
        const bool by_hand = what == fault::key_deleted;
        const auto often = by_hand ? settings_.deletions : settings_.events_per_fault;
        for (unsigned i = 0; i < often; ++i) {
            incidents_.push_back(draw_incident(what, chance));
            const auto index = static_cast<std::uint32_t>(incidents_.size() - 1);
            world_.schedule(incidents_.back().at, event::kind::fault_begins, index);
        }
    }
}

simulation::incident simulation::draw_incident(fault what, random& chance) const {
    incident drawn{.what = what};
    drawn.at = chance.between(core::duration{0}, std::min(settings_.troubled, settings_.length));
    drawn.node = static_cast<std::uint32_t>(chance.below(settings_.nodes));
    drawn.client = static_cast<std::uint32_t>(chance.below(settings_.clients));
    const auto longest =
        what == fault::client_pause ? settings_.timing.ttl * 3 : settings_.longest_outage;
    drawn.lasts = chance.between(std::chrono::milliseconds(1), longest);
    drawn.size = chance.between(-settings_.wall_jump, settings_.wall_jump);
    return drawn;
}

outcome simulation::run() {
    world_.schedule(settings_.length, event::kind::heal, 0);
    for (auto& each : clients_) each->start();
    while (!done_ && !world_.idle() && !checkers_.found()) {
        dispatch(world_.next());
        if (world_.count() > most_events) {
            checkers_.report(rule::recovery,
                             "nobody comes to rest: more events than a run can have");
        }
    }
    return {.found = checkers_.found(),
            .trace = world_.tracer().text(),
            .simulated = world_.now(),
            .events = world_.count(),
            .attempts = checkers_.attempts(),
            .acquired = checkers_.acquired()};
}

void simulation::dispatch(const event& e) {
    switch (e.what) {
        case event::kind::request_arrives: return request_arrives(e);
        case event::kind::reply_arrives: return reply_arrives(e);
        case event::kind::push_arrives: {
            const auto to = network_.at(e.subject).client;
            return postponed(e, to) ? void() : clients_[to]->on_push(e.subject);
        }
        case event::kind::emptied_arrives: {
            const auto to = network_.at(e.subject).client;
            return postponed(e, to) ? void() : clients_[to]->on_emptied(e.subject);
        }
        case event::kind::connection_lost: {
            const auto to = network_.at(e.subject).client;
            return postponed(e, to) ? void() : clients_[to]->on_lost(e.subject);
        }
        case event::kind::client_timer: return client_timer(e);
        case event::kind::node_cycle: return nodes_[e.subject]->cycle();
        case event::kind::fault_begins: return begin(incidents_[e.subject]);
        case event::kind::fault_ends: return end(incidents_[e.subject]);
        case event::kind::register_read: return register_.read(e.subject);
        case event::kind::register_write: return register_.write(e.subject);
        case event::kind::inspect: return inspect(e.subject);
        case event::kind::heal: return heal();
        case event::kind::give_up: return give_up();
        case event::kind::close: return close();
    }
}

void simulation::request_arrives(const event& e) {
    auto& at = *nodes_[network_.at(network_.peek(e.subject).connection).node];
    if (at.stands_still()) {
        return world_.schedule(at.still_until(), e.what, e.subject);
    }
    at.receive(network_.peek(e.subject));
    if (lurking_) spring(network_.peek(e.subject));
    network_.discard(e.subject);
}

// A process that stands still finds everything waiting for it when it goes on.
bool simulation::postponed(const event& e, std::uint32_t client) {
    const auto& self = clients_[client]->self();
    if (!self.paused()) return false;
    world_.schedule(self.paused_until(), e.what, e.subject, e.slot, e.generation);
    return true;
}

void simulation::reply_arrives(const event& e) {
    const auto& reply = network_.peek(e.subject);
    const auto to = network_.at(reply.connection).client;
    if (postponed(e, to)) return;
    clients_[to]->on_reply(reply.connection, reply.asked, reply.answer);
    network_.discard(e.subject);
}

void simulation::client_timer(const event& e) {
    if (postponed(e, e.subject)) return;
    clients_[e.subject]->on_timer(e.slot, e.generation);
    if (!world_.healed() || closing_ || !satisfied()) return;
    closing_ = true;
    world_.schedule(world_.now() + settings_.orphan_bound(), event::kind::close, 0);
}

void simulation::begin(const incident& what) {
    if (world_.healed()) return;
    say(what, "begins");
    const auto index = static_cast<std::uint32_t>(&what - incidents_.data());
    auto& at = *nodes_[what.node];
    switch (what.what) {
        case fault::partition:
        case fault::deafness: return part(what);
        case fault::crash_full:
        case fault::crash_partial:
        case fault::crash_empty:
            if (!at.up()) return;
            at.crash(what.what == fault::crash_full      ? node::memory::full
                     : what.what == fault::crash_partial ? node::memory::partial
                                                         : node::memory::none);
            return world_.schedule(world_.now() + what.lasts, event::kind::fault_ends, index);
        case fault::node_pause: return at.stand_still(world_.now() + what.lasts);
        case fault::client_pause:
            if (clients_[what.client]->self().paused()) return;
            return clients_[what.client]->self().pause(what.lasts);
        case fault::wall_jump: return at.jump(what.size);
        case fault::flushall:
        case fault::resync: return settings_.interrupts ? lie_in_wait(what) : forget(what);
        case fault::script_flush: return at.flush_scripts();
        case fault::refusal: return at.refuse(world_.now() + what.lasts);
        case fault::key_deleted:
            for (auto& each : nodes_) each->delete_lock();
            return;
        default: return;
    }
}

void simulation::end(const incident& what) {
    const bool lay_in_wait = what.what == fault::flushall || what.what == fault::resync;
    if (lay_in_wait && world_.healed()) return;
    say(what, lay_in_wait ? "happens" : "ends");
    if (lay_in_wait) return forget(what);
    nodes_[what.node]->restart();
}

void simulation::forget(const incident& what) {
    auto& at = *nodes_[what.node];
    what.what == fault::resync ? at.resynchronise() : at.flush_all();
}

// The client has to connect again: the node will forget while they shake hands.
void simulation::lie_in_wait(const incident& what) {
    lurking_ = static_cast<std::uint32_t>(&what - incidents_.data());
    network_.break_between(what.client, what.node);
}

// It has been greeted. Every other time what the client says next comes late, and may come after
// others have met the node's next life.
void simulation::spring(const network::message& arrived) {
    const auto& what = incidents_[*lurking_];
    const auto& on = network_.at(arrived.connection);
    const bool greeted = arrived.asked.what == operation::hello;
    if (!greeted || on.client != what.client || on.node != what.node) return;
    world_.schedule(world_.now() + what.lasts % (settings_.base_delay * 5), event::kind::fault_ends,
                    *lurking_);
    const bool late = what.lasts.count() % 2 == 0;
    if (late) network_.cut(what.client, what.node, world_.now() + what.lasts, true, false);
    lurking_.reset();
}

// One client or one node is cut off from the rest, or a single pair from each other.
void simulation::part(const incident& what) {
    const auto until = world_.now() + what.lasts;
    const auto shape = what.lasts.count() % 3;
    const bool both = what.what == fault::partition;
    const bool up = both || what.lasts.count() % 2 == 0;
    const bool down = both || !up;
    for (std::uint32_t c = 0; c < settings_.clients; ++c) {
        for (std::uint32_t n = 0; n < settings_.nodes; ++n) {
            const bool hit = shape == 0   ? c == what.client
                             : shape == 1 ? n == what.node
                                          : c == what.client && n == what.node;
            if (hit) network_.cut(c, n, until, up, down);
        }
    }
}

void simulation::inspect(owner_id who) {
    auto& of = *clients_[checkers_.client_of(who)];
    for (std::uint32_t i = 0; i < settings_.nodes; ++i) {
        const auto& at = *nodes_[i];
        if (!at.up() || at.owner() != who) continue;
        const bool fit = of.to(core::node_index{static_cast<std::uint8_t>(i)}).in_order() &&
                         !of.self().paused_between(checkers_.over_since(who), world_.now());
        checkers_.found_at(i, who, fit, at.owned_for_ever());
    }
}

void simulation::heal() {
    if (world_.traced()) world_.tracer().line(world_.now(), "healed", "no more faults");
    world_.heal();
    network_.mend();
    for (auto& each : nodes_) each->heal();
    for (auto& each : clients_) each->healed();
    world_.schedule(world_.now() + settings_.recovery_bound(), event::kind::give_up, 0);
}

bool simulation::satisfied() const {
    return std::ranges::all_of(clients_, [](const auto& each) { return each->satisfied(); });
}

void simulation::give_up() {
    for (const auto& each : clients_) {
        if (each->satisfied()) continue;
        checkers_.report(rule::recovery,
                         "client " + std::to_string(each->self().index()) +
                             " has not had the lock although nothing is wrong any more");
    }
}

// Everybody is content: what is left at the nodes now would stay there.
void simulation::close() {
    done_ = true;
    for (std::uint32_t i = 0; i < settings_.nodes; ++i) {
        if (const auto who = nodes_[i]->owner();
            who != 0 && checkers_.over_since(who) < world_.now()) {
            inspect(who);
        }
    }
}

void simulation::say(const incident& what, const char* how) {
    if (!world_.traced()) return;
    const auto name = std::string(name_of(what.what));
    world_.tracer().line(world_.now(), "FAULT", "%s %s: node %u, client %u, %.3f s, size %.3f s",
                         name.c_str(), how, what.node, what.client,
                         static_cast<double>(what.lasts.count()) / 1e9,
                         static_cast<double>(what.size.count()) / 1e9);
}

}  // namespace holdfast::sim
