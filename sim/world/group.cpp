#include "sim/world/group.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {
namespace {

// A replica that has lost its master tries again after a while: Redis does once a second.
constexpr core::duration first_retry = std::chrono::milliseconds(20);
constexpr core::duration last_retry = std::chrono::milliseconds(600);

}  // namespace

class group::feeder final : public replication_feed {
  public:
    feeder(group& in, std::uint32_t server) : group_(in), server_(server) {}

    void carry(const transaction_pointer& next) override { group_.carry(server_, next); }
    void ask_for_acknowledgements() override { group_.ask_for_acknowledgements(server_); }

  private:
    group& group_;
    std::uint32_t server_;
};

group::group(world& in, network& on, checkers& watched, std::vector<std::unique_ptr<host>>& members)
    : world_(in),
      network_(on),
      checkers_(watched),
      hosts_(members),
      chance_(random(in.settings().seed).split(10)),
      links_(members.size()),
      follows_(members.size()) {
    const auto count = static_cast<std::uint32_t>(members.size());
    for (std::uint32_t i = 0; i < count; ++i) {
        feeders_.push_back(std::make_unique<feeder>(*this, i));
        hosts_[i]->serves().keep_backlog_of(settings().group.backlog);
        hosts_[i]->serves().feed(feeders_.back().get());
        hosts_[i]->watch(this);
    }
    const auto sentinels = settings().group.sentinels;
    // Redis 7.0, and later ones, which know what the last write of a connection was.
    const bool later = chance_.coin();
    for (const auto& each : hosts_) {
        using enum server_settings::script_tracking;
        each->serves().restart({.tracks = later ? read_keys : declared_keys});
    }
    for (std::uint32_t i = 0; i < sentinels; ++i) {
        sentinels_.push_back(std::make_unique<sentinel_host>(
            network_, count + i,
            sentinel::watched{.name = "main", .replicas = count - 1U, .sentinels = sentinels},
            sentinel::view{.host = name_of(0)}));
    }
    behind_.resize(sentinels);
    hasty_.resize(sentinels);
    network_.lead_address_to(0, 0);
}

group::~group() = default;

// The first has replicas before it is vouched for, since that is another life; they get its data
// all at once.
void group::begin() {
    auto& first = hosts_.front()->serves();
    first.attach_replica(0, {});
    hosts_.front()->vouch();
    first.detach_replica(0);
    for (std::uint32_t i = 1; i < hosts_.size(); ++i) {
        hosts_[i]->serves().follow(name_of(0));
        hosts_[i]->load(first.take_snapshot());
        links_[i].attachment = ++attachments_;
        first.attach_replica(attachments_, name_of(i));
        first.acknowledged(attachments_, first.offset(), hosts_.front()->wall());
    }
}

bool group::is_replica(std::uint32_t server) const {
    return hosts_[server]->serves().present_life().is_replica();
}

void group::acts(const event& e) {
    const auto what = static_cast<step>(e.slot);
    const bool of_link = what == part_arrives || what == tries_again || what == psync_arrives;
    if (of_link && e.generation != links_[e.subject].generation) return;
    const auto at = what == part_arrives || what == tries_again ? e.subject
                    : what == psync_arrives                     ? follows_[e.subject]
                    : what == ack_arrives || what == close_arrives
                        ? words_[e.subject].master
                        : static_cast<std::uint32_t>(most);
    if (at < hosts_.size() && hosts_[at]->stands_still()) {
        return world_.schedule(hosts_[at]->still_until(), e.what, e.subject, e.slot, e.generation);
    }
    switch (what) {
        case part_arrives: return take_part(e.subject);
        case tries_again: return request_psync(e.subject);
        case psync_arrives: return take_psync(e.subject);
        case ack_arrives:
        case close_arrives: return take_word(what, words_[e.subject]);
        case is_told: return tell(e.subject);
        case is_suspected: {
            const bool gone = e.generation + 1 == masters_.size() && !reached(master_);
            return gone ? fail_over(static_cast<std::uint32_t>(chance_.next())) : void();
        }
        case is_brought_back: return bring_back(e.subject);
        case sentinel_learns: return teach(e.subject, e.generation);
        case address_moves: return move_address(e.subject != 0);
        case must_be_granted: return check_granted();
    }
}

core::duration group::draw_delay() {
    const auto base = settings().base_delay;
    return base / 2 + chance_.between(core::duration{0}, base);
}

instant group::cut_between(std::uint32_t one, std::uint32_t other) const {
    return cut_[one][other];
}

void group::carry(std::uint32_t master, const transaction_pointer& next) {
    for (const auto& each : next->effects) note(master, each);
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
        if (i != master && follows_[i] == master && links_[i].attachment != 0) {
            send(i, {.what = part::kind::changes, .changes = next});
        }
    }
}

void group::ask_for_acknowledgements(std::uint32_t master) {
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
        if (i != master && follows_[i] == master && links_[i].attachment != 0) {
            send(i, {.what = part::kind::asks_for_word});
        }
    }
}

// What is cut off is sent again until it arrives: a connection outlives that.
void group::send(std::uint32_t replica, part what) {
    auto& to = links_[replica];
    auto at = std::max(world_.now(), cut_between(follows_[replica], replica)) + draw_delay();
    if (world_.now() < to.lags_until) at += to.lag;
    to.last_down = std::max(at, to.last_down + core::duration{1});
    to.under_way.push_back(std::move(what));
    world_.schedule(to.last_down, event::kind::group_acts, replica, part_arrives, to.generation);
}

void group::take_part(std::uint32_t replica) {
    auto& from = links_[replica];
    auto& at = *hosts_[replica];
    const auto next = std::move(from.under_way.front());
    from.under_way.pop_front();
    switch (next.what) {
        case part::kind::changes:
            at.apply(next.changes);
            for (const auto& each : next.changes->effects) note(replica, each);
            return;
        case part::kind::all:
            say("is given all of the data", replica);
            at.load(*next.all);
            checkers_.rolled_back(replica);
            for (const auto& each : next.all->entries) note(replica, {each.key, each});
            return acknowledge(replica);
        case part::kind::rest_follows:
            say("is given what it misses", replica);
            return at.serves().continue_with(next.replication_id);
        case part::kind::asks_for_word: return acknowledge(replica);
        case part::kind::end: return try_again(replica);
    }
}

void group::acknowledge(std::uint32_t replica) {
    send_word(replica, ack_arrives, hosts_[replica]->serves().offset());
}

void group::send_word(std::uint32_t replica, step what, std::int64_t offset) {
    auto& by = links_[replica];
    const auto master = follows_[replica];
    const auto at = std::max(world_.now(), cut_between(master, replica)) + draw_delay();
    by.last_up = std::max(at, by.last_up + core::duration{1});
    words_.push_back({.master = master, .attachment = by.attachment, .offset = offset});
    world_.schedule(by.last_up, event::kind::group_acts,
                    static_cast<std::uint32_t>(words_.size() - 1), what);
}

// A master that has disconnected that replica since does not know it any more.
void group::take_word(step what, const word& said) {
    auto& at = *hosts_[said.master];
    if (!at.up()) return;
    if (what == close_arrives) return at.serves().detach_replica(said.attachment);
    at.acknowledged(said.attachment, said.offset);
}

void group::unlink(std::uint32_t replica) {
    auto& of = links_[replica];
    ++of.generation;
    of.attachment = 0;
    of.under_way.clear();
    of.last_down = of.last_up = world_.now();  // the next one is another connection
    hosts_[replica]->serves().lose_master();
}

void group::try_again(std::uint32_t replica) {
    unlink(replica);
    if (!hosts_[replica]->up()) return;
    plan_step(chance_.between(first_retry, last_retry), tries_again, replica,
              links_[replica].generation);
}

void group::unlink_all_of(std::uint32_t master) {
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
        if (i == master || follows_[i] != master || links_[i].attachment == 0) continue;
        send(i, {.what = part::kind::end});
        links_[i].attachment = 0;
    }
}

void group::request_psync(std::uint32_t replica) {
    const auto until = cut_between(follows_[replica], replica);
    const auto at = std::max(world_.now(), until) + draw_delay();
    world_.schedule(at, event::kind::group_acts, replica, psync_arrives,
                    links_[replica].generation);
}

// Its master may be down, or a replica itself: that has nothing to give.
void group::take_psync(std::uint32_t replica) {
    const auto master = follows_[replica];
    auto& from = hosts_[master]->serves();
    if (!hosts_[master]->up() || from.present_life().is_replica()) return try_again(replica);
    const auto& asks = hosts_[replica]->serves();
    const auto missing = from.continue_from(asks.present_life().replication_id(), asks.offset());
    const auto attachment = ++attachments_;
    from.attach_replica(attachment, name_of(replica));
    links_[replica].attachment = attachment;
    if (missing) {
        send(replica, {.what = part::kind::rest_follows,
                       .replication_id = from.present_life().replication_id()});
        for (const auto& each : *missing) {
            send(replica, {.what = part::kind::changes, .changes = each});
        }
    } else {
        const auto all = std::make_shared<const snapshot>(from.take_snapshot());
        for (const auto& each : all->entries) note(master, {each.key, each});
        send(replica, {.what = part::kind::all, .all = all});
    }
    send(replica, {.what = part::kind::asks_for_word});
}

void group::went_down(std::uint32_t server) {
    if (follows_[server] == server) {
        unlink_all_of(server);
    } else {
        // It is its process that dies: the system closes what that had open.
        if (links_[server].attachment != 0) send_word(server, close_arrives, 0);
        unlink(server);
    }
    suspect(server);
}

void group::came_up(std::uint32_t server) {
    if (follows_[server] == server) return;
    hosts_[server]->serves().follow(name_of(follows_[server]));
    try_again(server);
}

void group::went_silent(std::uint32_t server) { suspect(server); }

void group::note(std::uint32_t server, const transaction::effect& what) {
    if (what.key != lock_key || !what.after) return;
    auto& all = known_[what.after->text];
    const auto ms = what.after->expires_at_ms;
    auto found = std::ranges::find(all, ms, &known::expires_at_ms);
    if (found == all.end()) found = all.insert(found, {.expires_at_ms = ms});
    // Two masters, whose clocks differ, may have said the same time, and not meant the same.
    if (!is_replica(server)) {
        const auto until = ms == keyspace::no_expiry ? instant::max() : hosts_[server]->when(ms);
        found->until = std::max(found->until, until);
    }
    found->by.insert(core::node_index{static_cast<std::uint8_t>(server)});
}

// A renewal changes nothing where the clock of another master has given the lease more time than it
// asks for.
bool group::lasts(const known& what, instant until) const {
    for (const auto by : what.by) {
        const auto& at = *hosts_[by.value];
        if (!is_replica(by.value) && at.when(what.expires_at_ms) >= until) return true;
    }
    return false;
}

std::size_t group::backing(std::string_view owner, instant until) const {
    const auto found = known_.find(owner);
    if (found == known_.end()) return 0;
    core::node_set all;
    for (const auto& each : found->second) {
        if (each.until < until && !lasts(each, until)) continue;
        for (const auto server : each.by) all.insert(server);
    }
    return all.size();
}

void group::say(const char* what, std::uint32_t server) {
    if (!world_.traced()) return;
    world_.tracer().line(world_.now(), "GROUP", "server %u %s (epoch %zu, master %u)", server, what,
                         masters_.size() - 1, master_);
}

}  // namespace holdfast::sim
