#include "sim/world/host.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/judge.hpp"
#include "sim/server/refusals.hpp"

namespace holdfast::sim {

host::host(world& in, network& on, script_library& scripts, checkers& watched, std::uint32_t index,
           const wall_clock& clock)
    : world_(in),
      network_(on),
      checkers_(watched),
      index_(index),
      clock_(clock),
      chance_(random(in.settings().seed).split(300 + index)),
      server_(*this, scripts, {}, chance_.next()) {
    server_.listen(this);
    server_.refuse([this](const asked_command& what) { return why_not(what); });
    const auto& settings = in.settings();
    server_.data().keep_history(settings.has(fault::crash_partial) || settings.has(fault::resync));
}

void host::connect_arrives(stream& by) {
    if (up()) {
        by.session = server_.open();
        by.life = life_;
        sessions_.resize(by.session + 1);
        sessions_[by.session] = &by;
    }
    network_.answer_connect(by, !up());
}

void host::bytes_arrive(stream& by) {
    const auto piece = by.up.front();
    if (belongs_here(by)) {
        if (by.closed()) network_.disturb(by.of().index(), index_, world_.now());
        keep_time();
        serving_ = &by;
        departed_ = piece.departed;
        server_.receive(by.session, by.up.front_bytes(), wall());
        serving_ = nullptr;
        if (piece.breaks_after) {
            by.outbox.clear();
            network_.break_connection(by);
        }
        settle();
    }
    by.up.pop();
}

// A machine that knows nothing of a connection says so.
bool host::belongs_here(stream& by) {
    if (up() && by.session != 0 && by.life == life_) return true;
    network_.break_connection(by);
    return false;
}

void host::close_arrives(stream& by) {
    if (up() && by.session != 0 && by.life == life_) server_.close(by.session);
}

void host::keep_time() {
    server_.data().stamp(world_.now().count());
    if (++served_ % 64 != 0) return;
    server_.data().forget_history_before(last_kept());
}

stream* host::find(connection whom) { return whom < sessions_.size() ? sessions_[whom] : nullptr; }

void host::append(connection to, std::string_view bytes, bool is_push) {
    auto* const whose = find(to);
    if (whose == nullptr || whose->life != life_) return;
    if (whose->outbox.empty()) to_send_.push_back(whose);
    whose->outbox += bytes;
    whose->outbox_has_push = whose->outbox_has_push || is_push;
}

void host::send_outboxes() {
    for (auto* const each : to_send_) send_outbox(*each);
    to_send_.clear();
}

void host::send_outbox(stream& which) {
    if (!which.outbox.empty()) {
        network_.carry_down(which, which.outbox, std::exchange(which.outbox_has_push, false));
    }
    which.outbox.clear();
}

void host::hang_up(connection whom) {
    auto* const whose = find(whom);
    if (whose == nullptr) return;
    send_outbox(*whose);
    network_.disturb(whose->of().index(), index_, world_.now());
    network_.close_down(*whose);
}

void host::executed(const execution& what) {
    if (serving_ == nullptr) return;  // what came behind WAIT concerns no lock
    const auto client = client_of(*serving_);
    if (what.name == "hello") greeted_by(client);
    if (what.name == "time") {
        const auto by_byte = serving_->sent_down + serving_->outbox.size() + what.answer.size();
        checkers_.clocks().answered(client, index_, serving_->id(), departed_, by_byte);
    }
    if (!doomed_.empty()) granted(what);
    const bool of_lock = !what.keys.empty() && what.keys.front() == lock_key;
    const bool for_ever = of_lock && (keeps_for_ever(lock_key) || keeps_for_ever(readers_key));
    const checkers::place where{.server = index_,
                                .client = client,
                                .connection = serving_->id(),
                                .departed = departed_,
                                .abandoned = serving_->closed()};
    if (world_.settings().of_other_kind()) checkers_.kinds().executed(what, server_.data());
    if (!of_lock || !world_.settings().shared) return checkers_.executed(where, what, for_ever);
    const checkers::sequel after{holders_in(server_.data(), what.now), queue()};
    checkers_.executed(where, what, for_ever, &after);
}

bool host::keeps_for_ever(std::string_view key) const {
    const auto* const found = server_.data().peek(key, wall());
    return found != nullptr && found->expires_at_ms == keyspace::no_expiry;
}

std::span<const std::string> host::queue() const {
    const auto* const found = server_.data().peek(queue_key, wall());
    if (found == nullptr) return {};
    return found->items;
}

bool host::has_in_line(std::string_view owner) const {
    return std::ranges::any_of(queue(),
                               [&](const auto& each) { return owner_in_entry(each) == owner; });
}

// Without tracking there are two ways: a server that does not know RESP3, and a user who may not.
std::string_view host::why_not(const asked_command& what) {
    if (world_.settings().shared) checkers_.about_to_run(holders_in(server_.data(), wall()));
    if (world_.settings().of_other_kind()) {
        checkers_.kinds().about_to_run(server_.data(), wall(), [this](std::string_view channel) {
            return server_.has_receivers(channel);
        });
    } else if (world_.settings().alone()) {
        checkers_.line().about_to_run(
            queue(), [this](std::string_view channel) { return server_.has_receivers(channel); });
    }
    if (serving_ != nullptr && !world_.settings().tracked(client_of(*serving_))) {
        const bool old = world_.settings().seed % 2 == 0;
        if (old && what.name == "hello") return "ERR unknown command 'HELLO'";
        if (what.name == "client|tracking") return refusals::not_permitted;
    }
    const bool uncalled = what.name == "subscribe" && serving_ != nullptr &&
                          !world_.settings().may_subscribe(client_of(*serving_));
    return uncalled || forbids(what.name) ? refusals::not_permitted : std::string_view{};
}

std::uint32_t host::client_of(const stream& which) const {
    return network_.at(which.id()).of().index();
}

void host::lie_in_wait_for(std::uint32_t client, std::uint32_t incident, core::duration lasts) {
    ambush_ = {.client = client, .incident = incident, .lasts = lasts};
    network_.break_between(client, index_);
}

// It happens within the round trips of the handshake. Every other time what the client says next
// comes late, and may come after others have met the server's next life.
void host::greeted_by(std::uint32_t client) {
    if (!ambush_ || ambush_->client != client) return;
    const auto [whom, incident, lasts] = *std::exchange(ambush_, std::nullopt);
    const auto soon = lasts % (world_.settings().base_delay * 8);
    world_.schedule(world_.now() + soon, event::kind::fault_ends, incident);
    if (lasts.count() % 2 == 0) network_.cut(whom, index_, world_.now() + lasts, true, false);
}

// Whoever crashes now has been granted the lock, and cannot claim it.
void host::granted(const execution& by) {
    const bool changed = by.after != nullptr && (by.before == nullptr || *by.before != *by.after);
    if (!changed || by.arguments.empty() || by.arguments.front() == *by.after) return;
    const auto whose = checkers_.client_of(checkers_.owner_named(*by.after));
    std::erase_if(doomed_, [&](const ambush& each) {
        if (each.client != whose) return false;
        const auto soon = each.lasts % (world_.settings().base_delay * 4);
        world_.schedule(world_.now() + soon, event::kind::fault_ends, each.incident);
        return true;
    });
}

void host::enlist_by_hand(net::enlisting how) {
    const auto& of = server_.present_life();
    const auto& settings = world_.settings();
    const core::judge by({.restart_guard = settings.restart_guard,
                          .max_ttl = settings.max_ttl,
                          .guard_time = settings.timing.guard_time});
    std::string command;
    net::append_enlist(
        command,
        {.run_id = of.run_id(),
         .replication_id = of.replication_id(),
         .second_replication_id = of.has_second_id() ? of.second_replication_id() : std::string{}},
        how, by, settings.replication());
    const auto own = server_.open();
    server_.receive(own, command, wall());
    server_.close(own);
}

const keyspace::entry* host::next_to_expire() const {
    if (!world_.settings().of_other_kind()) return server_.data().peek(lock_key, wall());
    const keyspace::entry* next = nullptr;
    for (const auto key : locks_of(world_.settings().kind)) {
        const auto* const found = server_.data().peek(key, wall());
        const bool expires = found != nullptr && found->expires_at_ms != keyspace::no_expiry;
        if (!expires) continue;
        if (next == nullptr || found->expires_at_ms < next->expires_at_ms) next = found;
    }
    return next;
}

// Redis looks for expired keys ten times a second; with many keys it is seconds until it finds one.
void host::plan_cycle() {
    if (cycle_planned_) return;
    const auto* lock = next_to_expire();
    if (!lock || lock->expires_at_ms == keyspace::no_expiry) return;
    cycle_planned_ = true;
    core::duration until_next = std::chrono::milliseconds(1 + lock->expires_at_ms * 7919 % 100);
    if (world_.faulty(fault::deaf_tracking)) until_next *= 100;
    const auto expiry = std::max(clock_.when(lock->expires_at_ms), world_.now());
    world_.schedule(expiry + until_next, event::kind::server_cycle, index_);
}

void host::cycle() {
    cycle_planned_ = false;
    if (!up()) return;
    keep_time();
    server_.expire(wall());
    settle();
}

void host::settle() {
    send_outboxes();
    plan_cycle();
    if (watcher_ != nullptr) plan_wait();
}

// Redis looks at who has waited for long enough ten times a second; more often costs nothing here.
void host::plan_wait() {
    const auto next = server_.next_wait_ends();
    if (next == server::wall_time::max()) return;
    const auto at = std::max(when(next.count() / 1000 + 1), world_.now());
    if (at >= wait_planned_) return;
    wait_planned_ = at;
    world_.schedule(at, event::kind::wait_ends, index_);
}

void host::wait_ends() {
    wait_planned_ = instant::max();
    if (!up()) return;
    keep_time();
    server_.end_waits(wall());
    settle();
}

void host::follow(const std::string& master) {
    keep_time();
    server_.follow(master);
    send_outboxes();
}

void host::load(const snapshot& all) {
    keep_time();
    server_.load(all);
    send_outboxes();
}

void host::apply(const transaction_pointer& next) {
    keep_time();
    server_.apply(next);
    send_outboxes();
}

void host::acknowledged(std::uint32_t replica, std::int64_t offset) {
    keep_time();
    server_.acknowledged(replica, offset, wall());
    settle();
}

bool host::holds_for(std::string_view owner, instant until) const {
    const auto ends = held_until_ms(server_.data(), owner, wall());
    if (ends == for_ever_ms) return true;
    return ends != 0 && clock_.when(ends) >= until;
}

bool host::holds(std::string_view owner) const {
    return up() && held_until_ms(server_.data(), owner, wall()) != 0;
}

std::vector<owner_id> host::owners() const {
    std::vector<owner_id> found;
    if (!up()) return found;
    for (const auto& each : holders_in(server_.data(), wall()).all) {
        if (const auto who = checkers_.owner_named(each.owner); who != 0) found.push_back(who);
    }
    return found;
}

}  // namespace holdfast::sim
