#include "runtime/cluster.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/tuning.hpp"
#include "resp/encoder.hpp"
#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// Asks one server for the map, and for its own name in it.
class cluster::map_request final : public net::exchange {
  public:
    enum question : tag { its_id, slots, shards };

    map_request(cluster& of, net::node& at) : cluster_(of), at_(at) {
        cluster_.engine_.begin_unattended();
    }
    ~map_request() override { cluster_.engine_.end_unattended(); }

  private:
    void encode(tag what, bool, std::string& out) override HOLDFAST_LOCKED {
        constexpr std::array<std::string_view, 3> names{"MYID", "SLOTS", "SHARDS"};
        resp::append_command(out, {"CLUSTER", names[what]});
    }

    void answered(tag what, std::string_view reply) override HOLDFAST_LOCKED {
        const resp::view said(reply);
        if (what == its_id) {
            if (!said.is_error()) id_ = said.text();
            return;
        }
        if (what == slots) {
            auto found = net::slot_map::read(said, at_.where().host);
            if (const auto* why = std::get_if<net::failure>(&found)) return failed(what, *why);
            map_ = std::get<net::slot_map>(std::move(found));
        } else if (map_) {
            map_->read_sizes(said, at_.where().host);
            cluster_.on_map(at_, id_, *std::exchange(map_, std::nullopt));
        }
    }

    void failed(tag what, const net::failure& why) noexcept override HOLDFAST_LOCKED {
        const bool last = what == slots || (what == shards && map_);
        map_.reset();
        if (last) cluster_.on_no_map(cluster_.engine_.named(at_, why));
    }

    cluster& cluster_;
    net::node& at_;
    std::string id_;
    std::optional<net::slot_map> map_;
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

// Of a server that was learned of by MOVED, the size of its shard is asked for first.
net::node* cluster::server_of(net::slot& which) {
    const auto owner = map_.owner_of(which.number());
    const bool unsized = unsized_ && settings_.acks.needs_group() && owner &&
                         size_around(*servers_[*owner]).at_least == 0;
    if (owner && !unsized) return servers_[*owner];
    unsettled();
    return nullptr;
}

net::node& cluster::target_of(net::slot& which, const net::redirection& where,
                              const net::node& by) {
    auto& found = node_at(where.host.empty() ? by.where().host : where.host, where.port, {});
    importing_[&found] = which.number();
    return found;
}

net::shard_size cluster::size_around(const net::node& which) {
    if (const auto place = place_of(which)) return map_.size_around(map_.masters()[*place]);
    return map_.size_around({.host = which.where().host, .port = which.where().port, .id = {}});
}

std::optional<core::replication> cluster::group_of(const net::node& which) {
    const auto members = size_around(which).at_most;
    const auto acks = net::acks_needed(settings_.acks, members);
    if (!acks) return std::nullopt;
    const bool none = settings_.acks == replicas::none();
    return core::replication{.members = none ? 0 : members, .acks = *acks};
}

std::optional<std::uint16_t> cluster::some_slot_of(const net::node& which) {
    const auto place = place_of(which);
    if (!place) return std::nullopt;
    const auto first = static_cast<std::size_t>(engine_.chance() % core::slot_count);
    for (std::size_t n = 0; n < core::slot_count; ++n) {
        const auto slot = static_cast<std::uint16_t>((first + n) % core::slot_count);
        if (map_.owner_of(slot) == place) return slot;
    }
    return std::nullopt;
}

// One that serves nothing yet is asked in the name of a slot that is on its way there, by another
// key than any that could be moved along.
net::acknowledgement::place cluster::place_at(net::node& which, bool another) {
    const auto last = written_.find(&which);
    auto slot = last == written_.end() ? std::nullopt : std::optional(last->second);
    const bool served = slot && map_.owner_of(*slot) && servers_[*map_.owner_of(*slot)] == &which;
    if (another || !served) slot = some_slot_of(which);
    if (slot) {
        written_[&which] = *slot;
        return {.key = "holdfast:ack:{" + core::slot_tag(*slot) + "}", .asking = false};
    }
    const auto arriving = importing_.find(&which);
    const auto number = arriving == importing_.end() ? std::uint16_t{0} : arriving->second;
    return {.key = "holdfast:ack:arriving:{" + core::slot_tag(number) + "}", .asking = true};
}

void cluster::moved(net::slot& which, const net::redirection& where, const net::node& by) {
    const auto host = where.host.empty() ? by.where().host : where.host;
    map_.moved(which.number(), host, where.port);
    unsized_ = true;
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

// Who is connected answers soonest. Who told nothing new when something was wrong may be cut off
// from the others, and never tell anything else: these are asked first. Who serves nothing may have
// left.
int cluster::reluctance_to_ask(const net::node& whom) const {
    const bool connected = whom.ready() && !whom.stalled();
    const bool doubted = doubted_.contains(&whom);
    if (connected) return doubted ? 2 : 0;
    const bool fresh = !whom.was_tried() && serves(whom);
    return fresh && !doubted ? 1 : 3;
}

void cluster::doubt(const net::node& whom) noexcept {
    try {
        doubted_.insert(&whom);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next time, then
    }
    for (std::size_t n = 0; n < engine_.node_count(); ++n) {
        if (reluctance_to_ask(engine_.node(engine_.node_at(n))) < 2) return;
    }
    doubted_.clear();
}

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
        if (next == nullptr || reluctance_to_ask(each) < reluctance_to_ask(*next)) next = &each;
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
        whom->send(request, map_request::shards, deadline, now);
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
    if (found.covered() == 0) {
        return on_no_map(engine_.named(by, net::no_answer("knows of nobody who serves a slot")));
    }
    std::swap(map_, found);
    const auto before = std::exchange(servers_, {});
    place_servers();
    known_ = true;
    unsized_ = false;
    bool news = false;
    for (std::uint16_t n = 0; n < core::slot_count; ++n) {
        const auto was = found.owner_of(n);
        const auto is = map_.owner_of(n);
        news = news || was.has_value() != is.has_value() ||
               (was && is && before[*was] != servers_[*is]);
    }
    if (news) {
        doubted_.erase(&by);
    } else {
        doubt(by);
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
        if (!each || each->server() != &which) continue;
        each->on_down(why);
        engine_.out_of_reach({each->number()});
    }
    tidies_ = true;
    if (known_ && serves(which)) unsettled();
}

void cluster::on_unacknowledged(const net::node& which) noexcept {
    if (!closed_ && known_ && serves(which)) unsettled();
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

void cluster::on_caught_up(net::slot& which) { engine_.caught_up({which.number()}); }

void cluster::on_appended() noexcept { engine_.submit(); }

void cluster::expire(core::time_point now) noexcept {
    // NOLINTNEXTLINE(modernize-loop-convert): what expires may add another one
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

std::optional<std::size_t> cluster::place_of(const net::node& which) const {
    const auto found = std::find(servers_.begin(), servers_.end(), &which);
    if (found == servers_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - servers_.begin());
}

bool cluster::serves(const net::node& which) const {
    const auto place = place_of(which);
    return place && map_.served_by(*place) > 0;
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
