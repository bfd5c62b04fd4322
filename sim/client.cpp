#include "sim/client.hpp"

#include "sim/breakage.hpp"

namespace holdfast::sim {

client::client(world& in, network& on, checkers& watched, fenced_register& shared,
               std::uint32_t index, const machine_clock& clock)
    : process_(in, index, clock), network_(on), checkers_(watched), register_(shared) {
    link_user& user = *this;
    for (std::uint32_t node = 0; node < in.settings().nodes; ++node) {
        links_.push_back(std::make_unique<link>(process_, on, watched, user, node));
    }
    for (std::uint32_t caller = 0; caller < in.settings().workers; ++caller) {
        workers_.push_back(std::make_unique<worker>(*this, caller));
    }
}

void client::start() {
    for (auto& each : links_) each->connect();
    for (auto& each : workers_) each->start();
}

void client::on_reply(connection_id from, const request& asked, const value& answer) {
    links_[network_.at(from).node]->on_reply(from, asked, answer);
}

void client::on_push(connection_id from) { links_[network_.at(from).node]->on_push(from); }

void client::on_emptied(connection_id from) { links_[network_.at(from).node]->on_emptied(from); }

void client::on_lost(connection_id which) { links_[network_.at(which).node]->on_lost(which); }

void client::on_timer(process::slot slot, std::uint32_t generation) {
    if (!process_.fires(slot, generation)) return;
    process_.maybe_pause();
    if (slot < worker_slots_from) {
        return links_[slot / link::timers]->on_timer(static_cast<link::timer>(slot % link::timers));
    }
    const auto offset = slot - worker_slots_from;
    workers_[offset / worker::timers]->on_timer(
        static_cast<worker::timer>(offset % worker::timers));
}

void client::healed() {
    for (auto& each : workers_) each->healed();
}

bool client::satisfied() const {
    if (process_.settings().is_outsider(process_.index())) return true;
    return std::ranges::all_of(workers_, [](const auto& each) { return each->satisfied(); });
}

bool client::idle() const {
    return std::ranges::all_of(workers_, [](const auto& each) { return each->idle(); });
}

void client::pass_turn(std::optional<core::local_id> next, const core::courtesy::gap& left) {
    if (auto* const whose = find(next)) whose->turn(left);
}

void client::gather() {
    for (auto& each : workers_) each->come_along();
}

worker* client::find(std::optional<core::local_id> who) {
    const auto found =
        std::ranges::find_if(workers_, [&](const auto& each) { return each->id() == who; });
    return found == workers_.end() ? nullptr : found->get();
}

void client::release_on(core::node_index node, const request& asked, core::time_point until,
                        bool may_have_landed) {
    if (may_have_landed) owed_.owe(node, asked.owner, until);
    if (to(node).ready()) to(node).send(asked);
}

void client::visit_register(owner_id who, core::fencing_token token) {
    register_.visit(who, token, process_.now(), process_.chance());
}

void client::answered(core::node_index node, const request& asked, const value& answer) {
    if (asked.what == operation::release) owed_.settled(node, asked.owner);
    workers_[asked.worker]->answered(node, asked, answer);
}

void client::unknown(core::node_index node, const request& asked) {
    if (asked.what == operation::hello || asked.what == operation::enlist ||
        asked.what == operation::time) {
        return;
    }
    workers_[asked.worker]->unknown(node, asked);
}

bool client::still_wanted(core::node_index node, const request& asked) {
    return workers_[asked.worker]->still_wanted(node, asked);
}

void client::told(core::node_index node) {
    for (auto& each : workers_) each->told(node);
}

void client::connected(core::node_index node) {
    if (!broken(breakage::owed_release_forgotten)) send_owed(node);
    told(node);  // what the server would have told us meanwhile is lost: look again
}

void client::send_owed(core::node_index node) {
    owed_.due(node, process_.local(),
              [&](owner_id who) { to(node).send({.what = operation::release, .owner = who}); });
}

}  // namespace holdfast::sim
