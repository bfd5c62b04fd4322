#include "runtime/cluster.hpp"

#include <algorithm>
#include <utility>

#include "core/tuning.hpp"
#include "resp/encoder.hpp"
#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// Asks one server for the map, and for its own name in it.
class cluster::map_request final : public net::exchange {
  public:
    enum question : tag { its_id, slots };

    map_request(cluster& of, net::node& at) : cluster_(of), at_(at) {
        cluster_.engine_.begin_unattended();
    }
    ~map_request() override { cluster_.engine_.end_unattended(); }

  private:
    void encode(tag what, bool, std::string& out) override HOLDFAST_LOCKED {
        resp::append_command(out, {"CLUSTER", what == its_id ? "MYID" : "SLOTS"});
    }

    void answered(tag what, std::string_view reply) override HOLDFAST_LOCKED {
        const resp::view said(reply);
        if (what == its_id) {
            if (!said.is_error()) id_ = said.text();
            return;
        }
        auto found = net::slot_map::read(said, at_.where().host);
        if (const auto* why = std::get_if<net::failure>(&found)) return failed(what, *why);
        cluster_.on_map(at_, id_, std::get<net::slot_map>(std::move(found)));
    }

    void failed(tag what, const net::failure& why) noexcept override HOLDFAST_LOCKED {
        if (what == slots) cluster_.on_no_map(cluster_.engine_.named(at_, why));
    }

    cluster& cluster_;
    net::node& at_;
    std::string id_;
};

cluster::cluster(engine& through, const net::slot::settings& how)
    : engine_(through),
      settings_(how),
      slots_(core::slot_count),
      pause_(core::tuning::clusters::first_look, core::tuning::clusters::longest_look) {}

cluster::~cluster() = default;

clock::time_point cluster::present() const noexcept { return engine_.now(); }

net::slot& cluster::open(std::uint16_t number) {
    auto& place = slots_[number];
    if (!place) {
        place = std::make_unique<net::slot>(number, settings_,
                                            static_cast<net::slot::directory&>(*this));
    }
    return *place;
}

net::node* cluster::server_of(net::slot& which) {
    if (const auto owner = map_.owner_of(which.number())) return servers_[*owner];
    unsettled();
    return nullptr;
}

net::node& cluster::server_at(const net::redirection& where, const net::node& by) {
    return node_at(where.host.empty() ? by.where().host : where.host, where.port, {});
}

void cluster::moved(net::slot& which, const net::redirection& where, const net::node& by) {
    const auto host = where.host.empty() ? by.where().host : where.host;
    map_.moved(which.number(), host, where.port);
    place_servers();
    if (const auto owner = map_.owner_of(which.number())) hint_ = servers_[*owner];
    which.look_where();
    unsettled();
}

net::node& cluster::node_at(const std::string& host, std::uint16_t port, const std::string& id) {
    for (std::size_t n = 0; n < engine_.node_count(); ++n) {
        auto& each = engine_.node(engine_.node_at(n));
        if (each.where().port == port && each.where().host == host) return each;
    }
    // A seed that was given by another name than the Cluster knows it by.
    const auto known = by_id_.find(id);
    if (!id.empty() && known != by_id_.end() && known->second->ready()) return *known->second;
    return engine_.add_server(host, port);
}

void cluster::place_servers() {
    const auto& masters = map_.masters();
    for (auto n = servers_.size(); n < masters.size(); ++n) {
        servers_.push_back(&node_at(masters[n].host, masters[n].port, masters[n].id));
    }
}

void cluster::unsettled() noexcept {
    if (closed_ || looking_) return;
    const auto now = engine_.now();
    if (now >= not_before_) return start_look(now);
    engine_.set(*this, not_before_);
}

void cluster::due(core::time_point now) noexcept {
    if (!closed_ && !looking_) start_look(now);
}

void cluster::start_look(core::time_point now) noexcept {
    looking_ = true;
    asked_.clear();
    why_not_ = {};
    ask_next(now);
}

// Who is connected answers soonest.
net::node* cluster::next_to_ask() {
    const auto asked = [&](const net::node& each) {
        return std::find(asked_.begin(), asked_.end(), &each) != asked_.end();
    };
    if (auto* const best = std::exchange(hint_, nullptr); best != nullptr && !asked(*best)) {
        return best;
    }
    net::node* next = nullptr;
    for (std::size_t n = 0; n < engine_.node_count(); ++n) {
        auto& each = engine_.node(engine_.node_at(n));
        if (asked(each)) continue;
        if (each.ready() && !each.stalled()) return &each;
        if (next == nullptr) next = &each;
    }
    return next;
}

void cluster::ask_next(core::time_point now) noexcept {
    try {
        auto* const whom = next_to_ask();
        if (whom == nullptr) return end_look(net::copy_of(why_not_), false);
        asked_.push_back(whom);
        const boost::intrusive_ptr<map_request> request(new map_request(*this, *whom));
        const auto deadline = now + settings_.first_contact;
        whom->send(request, map_request::its_id, deadline, now);
        whom->send(request, map_request::slots, deadline, now);
        engine_.submit();
        engine_.driving().attend_by(deadline);
    } catch (const std::bad_alloc&) {
        end_look(net::out_of_memory(), false);
    }
}

void cluster::on_no_map(const net::failure& why) noexcept {
    if (closed_) return;
    why_not_ = net::copy_of(why);
    ask_next(engine_.now());
}

void cluster::on_map(net::node& by, const std::string& its_id, net::slot_map found) {
    if (closed_) return;
    if (!its_id.empty()) by_id_[its_id] = &by;
    std::swap(map_, found);
    const auto before = std::exchange(servers_, {});
    place_servers();
    known_ = true;
    bool news = false;
    for (std::uint16_t n = 0; n < core::slot_count; ++n) {
        const auto was = found.owner_of(n);
        const auto is = map_.owner_of(n);
        news = news || was.has_value() != is.has_value() ||
               (was && is && before[*was] != servers_[*is]);
    }
    end_look(std::nullopt, news);
}

void cluster::end_look(const std::optional<net::failure>& why, bool news) noexcept {
    const auto now = engine_.now();
    looking_ = false;
    tidies_ = true;
    if (news) pause_.reset();
    not_before_ = now + pause_.next(engine_.chance());
    outcome_ = why;
    for (auto* const each : std::exchange(waiting_, {})) engine_.driving().finished(*each);
    const auto nobody =
        why ? net::copy_of(*why) : net::no_answer("no server of the Cluster serves its slot");
    for (const auto& each : slots_) {
        if (!each) continue;
        if (map_.owner_of(each->number())) {
            each->look_where();
            each->placed(now);
        } else {
            each->not_placed(nobody);
        }
    }
    if (news) {
        try {
            call_those_needed(now);
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): when next used, then
        }
    }
    engine_.submit();
}

// Of a slot that nobody happens to use now: releases may be owed to it, and others wait there.
void cluster::call_those_needed(core::time_point now) {
    for (const auto each : engine_.owed().owing()) {
        if (each.value < slots_.size() && slots_[each.value]) slots_[each.value]->call(now);
    }
    for (const auto& key : engine_.queues().waited_for()) open(core::hash_slot(key)).call(now);
}

void cluster::on_ready(net::node&, core::time_point now) { call_those_needed(now); }

void cluster::on_down(net::node& which, const net::failure& why) noexcept {
    if (closed_) return;
    for (const auto& each : slots_) {
        if (each && each->server() == &which) each->on_down(why);
    }
    tidies_ = true;
    if (known_ && serves(which)) unsettled();
}

void cluster::on_changed(net::node& which, std::string_view key) noexcept {
    if (!key.starts_with(core::record_key)) return;
    const auto& found = slots_[core::hash_slot(key)];
    if (found && found->server() == &which && found->record_key() == key) {
        found->on_record_changed();
    }
}

void cluster::forget_records(const net::node& of) noexcept {
    for (const auto& each : slots_) {
        if (each && each->server() == &of) each->on_record_changed();
    }
}

void cluster::on_unsubscribed(net::node& which, std::string_view channel) noexcept {
    const auto& found = slots_[core::hash_slot(channel)];
    if (found && found->server() == &which && found->channel() == channel) {
        found->on_unsubscribed(engine_.now());
    }
}

void cluster::on_waiting(net::slot& which) { restless_.push_back(&which); }

void cluster::on_ready(net::slot& which) {
    const auto now = engine_.now();
    const core::node_index index{which.number()};
    engine_.tell_of_quarantine(which, now);
    engine_.owed().retry(index, now);
}

void cluster::on_caught_up(net::slot& which) {
    engine_.queues().notified_all({which.number()}, engine_.now());
}

void cluster::on_appended() noexcept { engine_.submit(); }

void cluster::expire(core::time_point now) noexcept {
    for (std::size_t n = 0; n < restless_.size(); ++n) restless_[n]->expire(now);
    std::erase_if(restless_, [](net::slot* each) HOLDFAST_LOCKED {
        return each->wake_at() == core::time_point::max();
    });
    if (std::exchange(tidies_, false)) rest_idle_servers();
}

core::time_point cluster::wake_at() const {
    auto earliest = core::never;
    for (const auto* each : restless_) earliest = std::min(earliest, each->wake_at());
    return earliest;
}

bool cluster::serves(const net::node& which) const {
    const auto found = std::find(servers_.begin(), servers_.end(), &which);
    return found != servers_.end() &&
           map_.served_by(static_cast<std::size_t>(found - servers_.begin())) > 0;
}

// Replicas that were asked for the map, servers that have left, seeds that cannot be reached.
void cluster::rest_idle_servers() noexcept {
    if (!known_ || looking_) return;
    for (std::size_t n = 0; n < engine_.node_count(); ++n) {
        auto& each = engine_.node(engine_.node_at(n));
        if (!serves(each)) each.rest();
    }
}

void cluster::close(const net::failure& why) noexcept {
    closed_ = true;
    engine_.cancel(*this);
    for (const auto& each : slots_) {
        if (each) each->close(why);
    }
    outcome_ = net::copy_of(why);
    for (auto* const each : std::exchange(waiting_, {})) engine_.driving().finished(*each);
}

core::duration cluster::longest_quarantine(core::time_point now) const {
    core::duration longest{};
    for (const auto& each : slots_) {
        if (!each || each->judge().at(now) != core::judge::standing::quarantined) continue;
        longest = std::max(longest, each->judge().quarantined_until() - now);
    }
    return longest;
}

std::optional<net::failure> cluster::look(base::client_lock& lock) {
    waiter caller(engine_.driving());
    waiting_.push_back(&caller);
    if (!looking_) start_look(engine_.now());
    engine_.submit();
    if (!caller.done) engine_.driving().wait(lock, caller);
    return outcome_;
}

}  // namespace holdfast::runtime
