#include "runtime/engine.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/tuning.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/error.hpp"
#include "kinds/calls.hpp"
#include "kinds/table.hpp"
#include "net/sentinel_resolver.hpp"
#include "platform/fork_guard.hpp"
#include "runtime/cluster.hpp"
#include "runtime/operations/drain.hpp"
#include "runtime/operations/failures.hpp"
#include "runtime/operations/heartbeat.hpp"
#include "runtime/operations/hold.hpp"
#include "runtime/operations/watching.hpp"

namespace holdfast::runtime {
namespace {

constexpr std::size_t first_holds = 16;

core::judge_policy policy_of(const options& settings) {
    return {.allow_eviction = settings.allow_eviction,
            .restart_guard = *settings.restart_guard,
            .max_ttl = settings.max_ttl,
            .guard_time = settings.guard_time,
            .clock = {.drift_per_mille = settings.drift_per_mille}};
}

replicas acks_in_cluster(const options& settings, net::purpose what_for) {
    if (what_for == net::purpose::look) return replicas::none();
    return settings.replica_acks.value_or(replicas::majority());
}

std::size_t scripts_of_all_kinds(kinds::topology where) {
    std::size_t count = 0;
    for (const auto* kind : kinds::all()) count += kind->loads(where).size();
    return count;
}

}  // namespace

engine::engine(std::shared_ptr<environment> around, options given, net::purpose what_for)
    : engine(std::move(around), resolve(std::move(given)), what_for) {}

engine::engine(std::shared_ptr<environment> around, resolved what, net::purpose what_for)
    : settings_(std::move(what.settings)),
      node_timeout_(settings_.node_timeout),
      generation_(fork_generation()),
      environment_(std::move(around)),
      channel_((what.endpoints.size() == 1 || what.cluster) && what_for != net::purpose::look
                   ? make_channel(entropy_)
                   : std::string()),
      driver_(environment_->make_driver(guard_, static_cast<driver::machinery&>(*this))),
      first_node_(what.cluster ? core::slot_count : 0),
      what_for_(what_for) {
    const bool one_voter = what.endpoints.size() == 1 || what.cluster;
    if (what.cluster) {
        cluster_ = std::make_unique<runtime::cluster>(
            *this, net::slot::settings{.policy = policy_of(settings_),
                                       .what_for = what_for,
                                       .channel = channel_,
                                       .first_contact = settings_.connect_timeout + node_timeout_,
                                       .acks = acks_in_cluster(settings_, what_for)});
        timers_.enroll();
    }
    for (const auto& where : what.endpoints) make_node(where, one_voter, what_for);
    used_.reserve(kinds::all().size());
    loads_.reserve(scripts_of_all_kinds(topology()));
    timers_.enroll();  // for what is owed
    if (one_voter) {
        membership_check_.stop();  // it has nobody to be mistaken for
    } else {
        timers_.enroll();
    }
    if (!*settings_.restart_guard || what_for != net::purpose::lock) return;
    timers_.enroll();
    heartbeat_ = std::make_unique<heartbeat>(*this);
}

engine::~engine() {
    if (in_child()) return;
    driver_->stop();
}

// Unchecked: the constructor calls it, whom nobody else knows yet, or who holds the lock.
net::node::settings engine::settings_for(const net::endpoint& where, bool patient,
                                         net::purpose what_for) HOLDFAST_UNCHECKED {
    return {
        .index = nodes_.size(),
        .link = {.where = where,
                 .client_name = settings_.client_name,
                 .policy = policy_of(settings_),
                 .what_for = what_for,
                 .loads = loads_,
                 .channel = cluster_ ? std::string() : channel_,
                 .acks = {.timeout =
                              std::min<core::duration>(node_timeout_, settings_.connect_timeout) /
                              4 * core::tuning::servers::acknowledged_in_quarters,
                          .at = {.key = std::string(core::acknowledged_key)}},
                 .clustered = cluster_ != nullptr,
                 .connect_timeout = settings_.connect_timeout,
                 .silence_limit = node_timeout_ * core::tuning::servers::silence_factor},
        .patient = patient,
        .resolves = make_resolver(where),
        .replica_acks =
            cluster_ || what_for == net::purpose::look ? replicas::none() : acks_at(where),
        .acknowledges_slots = cluster_ && acks_in_cluster(settings_, what_for) != replicas::none(),
        .answer_within = node_timeout_};
}

void engine::make_node(const net::endpoint& where, bool patient, net::purpose what_for) {
    nodes_.push_back(std::make_unique<net::node>(*environment_, guard_,
                                                 settings_for(where, patient, what_for),
                                                 static_cast<net::node::listener&>(*this)));
}

// It is asked for as its neighbours are, and with what they show.
net::node& engine::add_server(const std::string& host, std::uint16_t port) {
    auto where = nodes_.front()->where();
    where.host = host;
    where.port = port;
    auto how = settings_for(where, true, what_for_);
    how.link.shows = nodes_.front()->shows();
    how.prepared = true;
    nodes_.push_back(std::make_unique<net::node>(*environment_, guard_, std::move(how),
                                                 static_cast<net::node::listener&>(*this)));
    return *nodes_.back();
}

electorate engine::slot_of(std::string_view key) {
    return electorate(core::node_index{cluster_->open(core::hash_slot(key)).number()});
}

net::voter& engine::slot_at(core::node_index which) const { return cluster_->at(which.value); }

const std::string& engine::slot_channel(core::node_index slot) const {
    return cluster_->at(slot.value).channel();
}

core::node_index engine::place_of(const net::node& which, std::string_view key) {
    return cluster_ ? slot_of(key).node_of({0}) : node_at(which.index());
}

std::vector<core::node_index> engine::servers(base::client_lock& lock) {
    std::vector<core::node_index> all;
    if (!cluster_) {
        for (std::size_t n = 0; n < nodes_.size(); ++n) all.push_back(node_at(n));
        return all;
    }
    if (const auto why = cluster_->look(lock)) raise(*why);
    const auto& map = cluster_->map();
    for (std::size_t n = 0; n < map.masters().size(); ++n) {
        if (map.served_by(n) > 0) all.push_back(node_at(cluster_->server(n).index()));
    }
    return all;
}

// Where Sentinels do not tell how many there are, a majority cannot be had, and none is not enough.
replicas engine::acks_at(const net::endpoint& where) const {
    const auto otherwise = where.sentinels ? replicas::majority() : replicas::none();
    return settings_.replica_acks.value_or(otherwise);
}

std::shared_ptr<net::resolver> engine::make_resolver(const net::endpoint& of) {
    if (!of.sentinels) return nullptr;
    return std::make_shared<net::sentinel_resolver>(
        *environment_, guard_,
        net::sentinel_resolver::settings{.of = of,
                                         .client_name = settings_.client_name,
                                         .connect_timeout = settings_.connect_timeout});
}

bool engine::in_child() const noexcept { return fork_generation() != generation_; }

void engine::close() noexcept {
    {
        auto held = lock();
        if (stage_ != stage::open) return;
        stage_ = stage::closing;
        queues_.abort_all();
        while (!watches_.empty()) watches_.back()->abort();
        owed_.retry_now(now());
        hear_out(held);
        stage_ = stage::closed;
        fail_everything();
    }
    driver_->stop();
}

// A server that cannot write to a connection any more does not read on either: hanging up before
// the answers are there can take with it what was asked last, and that is releases.
void engine::hear_out(base::client_lock& lock) noexcept {
    try {
        std::vector<core::node_index> owing;
        for (const auto& node : nodes_) {
            const bool owes = node->has_unsent() || node->answers_on_their_way();
            if (owes) owing.push_back(node_at(node->index()));
        }
        drain::wait(*this, owing, now() + core::tuning::longest_drain, lock);
    } catch (const std::bad_alloc&) {
        flush();  // without hearing what comes of it
    }
}

void engine::fail_everything() noexcept {
    const auto now = this->now();
    if (heartbeat_) heartbeat_->stop();
    owed_.stop();
    auto why = net::no_answer("the client was closed");
    why.code = errc::closed;
    if (cluster_) cluster_->close(why);
    for (const auto& node : nodes_) node->close(why);
    membership_check_.end(now);  // whoever waits there is told by the nodes
    for (auto left = holds_.size(); left > 0; --left) holds_[left - 1]->lose(now);
}

void engine::send(core::node_index to, boost::intrusive_ptr<net::exchange> who,
                  net::exchange::tag request, core::time_point now) noexcept {
    auto& node = voter(to);
    // The first contact takes a connection, and so does every one with the only node there is.
    const bool only = nodes_.size() == 1 || cluster_;
    const bool first = !node.was_tried() || (only && !node.ready());
    const auto patience = first ? core::duration(settings_.connect_timeout) : core::duration{0};
    node.send(std::move(who), request, now + patience + node_timeout_, now);
}

// While somebody drives and answers are on their way, the next of them brings a flush, and whoever
// is about to drive begins with one: requests of many callers then share one write.
void engine::submit() noexcept {
    if (driver_->about_to_drive()) return;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {  // NOLINT(modernize-loop-convert): may grow
        auto& node = *nodes_[n];
        if (!driver_->driving() || !node.answers_on_their_way()) node.flush();
    }
}

kinds::topology engine::topology() const {
    const bool one_voter = cluster_ || nodes_.size() == 1;
    return one_voter ? kinds::topology::one_voter : kinds::topology::quorum;
}

void engine::note_use(const kinds::kind& which) noexcept {
    if (std::find(used_.begin(), used_.end(), &which) != used_.end()) return;
    used_.push_back(&which);
    const auto more = which.loads(topology());
    loads_.insert(loads_.end(), more.begin(), more.end());
    for (const auto& node : nodes_) node->load(loads_);
}

void engine::set(timer& which, core::time_point when) noexcept {
    timers_.set(which, when);
    if (when != core::never) driver_->attend_by(when);
}

void engine::reserve_hold() {
    if (holds_.size() == holds_.capacity())
        holds_.reserve(std::max(first_holds, 2 * holds_.size()));
    timers_.reserve();
}

void engine::enter(hold& lease) noexcept {
    timers_.enroll();
    holds_.push_back(&lease);
    lease.place(holds_.size() - 1);
    ++statistics_.held_now;
}

void engine::leave(hold& lease) noexcept {
    timers_.withdraw();
    holds_[lease.place()] = holds_.back();
    holds_.back()->place(lease.place());
    holds_.pop_back();
    --statistics_.held_now;
}

void engine::watch(watching& who) { watches_.push_back(&who); }

void engine::unwatch(watching& who) noexcept {
    watches_.erase(std::remove(watches_.begin(), watches_.end(), &who), watches_.end());
}

// From the back, and by place: whoever is told may be done, and leave.
template <typename Concerns>
void engine::tell_watches(Concerns&& concerns) noexcept {
    const auto now = this->now();
    for (auto n = watches_.size(); n-- > 0;) {
        if (n < watches_.size() && concerns(watches_[n]->what())) watches_[n]->changed(now);
    }
}

void engine::tell_of_own_change(std::string_view lock) noexcept {
    tell_watches([&](const watched& each) { return each.lock() == lock; });
}

void engine::log(log_level level, std::string_view event, std::string_view message,
                 std::string_view key, std::string_view node) const noexcept {
    if (!settings_.log) return;
    try {
        settings_.log({level, event, message, key, node});
    } catch (...) {  // NOLINT(bugprone-empty-catch): documented in log.hpp
    }
}

void engine::log_of(const net::voter& node, log_level level, std::string_view event,
                    std::string_view message, std::string_view key) const noexcept {
    if (!settings_.log) return;
    try {
        log(level, event, message, key, node.name());
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): a line less in the log
    }
}

net::failure engine::named(const net::voter& which, const net::failure& why) noexcept {
    auto copy = net::copy_of(why);
    try {
        copy.message.insert(0, which.name() + ": ");
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): then without its name
    }
    return copy;
}

void engine::abandon() noexcept {
    for (const auto& node : nodes_) node->abandon();
    driver_->abandon();
}

void engine::flush() noexcept {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {  // NOLINT(modernize-loop-convert): may grow
        nodes_[n]->flush();
    }
}

bool engine::list_sources(std::vector<driver::source>& all) {
    all.clear();
    for (const auto& node : nodes_) {
        const auto add = [&](int descriptor) { all.push_back({descriptor, node->index()}); };
        if (!node->list_sources(add)) return false;
    }
    return true;
}

void engine::take_in(const driver::source& from) noexcept {
    nodes_[from.whose]->take_in(from.descriptor);
}

void engine::watch_sources() {
    for (const auto& node : nodes_) node->watch();
}

void engine::fire(core::time_point now) noexcept {
    if (stage_ == stage::closed) return;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {  // NOLINT(modernize-loop-convert): may grow
        nodes_[n]->expire(now);
    }
    if (cluster_) cluster_->expire(now);
    timers_.fire(now);
    flush();
}

core::time_point engine::wake_at() const {
    if (stage_ == stage::closed) return core::never;
    auto earliest = timers_.next();
    for (const auto& node : nodes_) earliest = std::min(earliest, node->wake_at());
    if (cluster_) earliest = std::min(earliest, cluster_->wake_at());
    return earliest;
}

bool engine::unattended() const {
    if (stage_ == stage::closed) return false;
    return unattended_ > 0 ||
           std::any_of(nodes_.begin(), nodes_.end(),
                       [](const auto& node) HOLDFAST_LOCKED { return node->busy(); });
}

void engine::on_ready(net::node& which) {
    ++statistics_.connected;
    log(log_level::info, "connected", "connected", {}, which.name());
    const auto now = this->now();
    if (heartbeat_) heartbeat_->start(now);
    if (cluster_) return cluster_->on_ready(which, now);
    tell_of_quarantine(which, now);
    tell_of_no_calls(which);
    bar_conflicts();
    owed_.retry(node_at(which.index()), now);
    membership_check_.heard();
}

void engine::tell_of_quarantine(net::voter& which, core::time_point now) {
    if (which.judge().at(now) != core::judge::standing::quarantined) return;
    const auto left = which.judge().quarantined_until() - now;
    log(log_level::warning, "quarantined",
        "restarted, emptied or new: it is asked for nothing for " +
            format_duration(std::chrono::ceil<std::chrono::milliseconds>(left)),
        {}, which.name());
}

void engine::tell_of_no_calls(net::node& which) {
    const auto& said = which.said();
    if (channel_.empty() || said.subscribed) return;
    log(log_level::warning, "not_called",
        "who waits is not called, and looks now and then instead: " +
            (said.not_subscribed ? said.not_subscribed->message : "the server speaks RESP2 only"),
        {}, which.name());
}

// What the server would have told us meanwhile is lost: look again, behind our own releases, since
// it does not tell us of what we delete ourselves.
void engine::on_caught_up(net::node& which) {
    if (!cluster_) caught_up(node_at(which.index()));
}

void engine::caught_up(core::node_index voter) {
    queues_.notified_all(voter, now());
    for (auto n = watches_.size(); n-- > 0;) {
        if (n < watches_.size()) watches_[n]->reconnected(voter, now());
    }
}

void engine::out_of_reach(core::node_index voter) noexcept {
    for (auto* const each : watches_) each->disconnected(voter, now());
}

// Two votes of one server are one vote. Until somebody mends the list, nobody gets a lock by it:
// a server that is away for the moment is the one that it was.
void engine::bar_conflicts() {
    std::vector<core::server_facts> facts;
    for (const auto& node : nodes_) facts.push_back(node->facts());
    const auto found = core::find_conflict(facts);
    std::optional<net::failure> why;
    if (found) {
        const bool same = found->how == core::conflict::kind::same_server;
        why = net::failure{errc::unsafe_server,
                           nodes_[found->first]->name() + " and " + nodes_[found->second]->name() +
                               (same ? " are the same server" : " replicate each other") +
                               "; the servers of a quorum must be independent",
                           true};
    }
    for (const auto& node : nodes_) node->bar(why);
}

// What nobody may be waiting for has to be looked at all the same.
void engine::on_change(net::node& which) noexcept {
    driver_->look_again();
    if (which.follows()) driver_->attend_by(which.wake_at());
}

net::acknowledgement::place engine::place_at(net::node& which, bool another) {
    return cluster_->place_at(which, another);
}

void engine::on_down(net::node& which, const net::failure& why) noexcept {
    log_of(which, log_level::warning, "disconnected", why.message);
    membership_check_.heard();
    if (cluster_) {
        cluster_->on_down(which, why);
    } else {
        out_of_reach(node_at(which.index()));
    }
    driver_->attend_by(which.wake_at());
}

void engine::on_unacknowledged(net::node& which) noexcept {
    if (cluster_) cluster_->on_unacknowledged(which);
}

std::uint64_t engine::chance() noexcept {
    try {
        return entropy_.bits64();
    } catch (const std::system_error&) {  // no entropy: whatever the clock shows parts rivals, too
        return static_cast<std::uint64_t>(now().time_since_epoch().count());
    }
}

void engine::detached(const std::string& owner) noexcept {
    if (channel_.empty() || owner.empty() || !declines_) return;
    try {
        declines_ = detached_.size() < core::tuning::owed::most_detached;
        if (declines_) detached_.push_back(owner);
    } catch (const std::bad_alloc&) {
        declines_ = false;
    }
}

bool engine::in_use(std::string_view owner) const {
    const bool leased =
        std::any_of(holds_.begin(), holds_.end(),
                    [&](const hold* each) HOLDFAST_LOCKED { return each->owner() == owner; });
    return leased || std::find(detached_.begin(), detached_.end(), owner) != detached_.end();
}

// A server that comes back with older data, or carries out a request of a lost connection after its
// waiter has left by the next one, has it in line anew: nobody waits for what is granted then. Only
// what is ours is given back, and only what nobody has: a lease may have claimed the grant before
// the call came, and whoever makes a call up must not take one away.
void engine::decline(core::node_index by, const kinds::call& whom, core::time_point now) {
    const bool ours = made_for(channel_, whom.owner);
    if (ours && declines_ && !in_use(whom.owner)) owed_.decline(by, whom, now);
}

void engine::on_push(net::node& which, resp::view message) {
    const auto what = message.at(0);
    const bool called = what && (what->text() == "message" || what->text() == "smessage");
    if (called && message.size() == 3) {
        const auto whom = kinds::read_call(message.at(2)->text());
        const auto now = this->now();
        if (whom && !queues_.called(*whom, now)) decline(place_of(which, whom->lock), *whom, now);
        return;
    }
    const auto keys = message.at(1);
    if (cluster_ && what && what->text() == "sunsubscribe" && keys) {
        return cluster_->on_unsubscribed(which, keys->text());
    }
    if (!what || what->text() != "invalidate" || !keys) return;
    const auto now = this->now();
    for (const auto key : *keys) {
        if (cluster_) cluster_->on_changed(which, key.text());
        const auto lock = kinds::woken_by(key.text());
        if (!lock.empty()) queues_.notified(lock, place_of(which, lock), now);
        tell_watches([&](const watched& each) { return each.key() == key.text(); });
    }
}

}  // namespace holdfast::runtime
