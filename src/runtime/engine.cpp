#include "runtime/engine.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "fork_guard.hpp"
#include "holdfast/clock.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/error.hpp"
#include "runtime/cleanup.hpp"
#include "runtime/enlistment.hpp"
#include "runtime/farewell.hpp"
#include "runtime/heartbeat.hpp"
#include "runtime/hold.hpp"

namespace holdfast::runtime {
namespace {

constexpr core::duration longest_farewell = std::chrono::milliseconds(100);
constexpr int silence_factor = 3;  // unanswered for so many node timeouts: the server is gone

core::node_index index_of(const net::node& which) {
    return {static_cast<std::uint8_t>(which.index())};
}

}  // namespace

engine::engine(options given) : engine(resolve(std::move(given))) {}

engine::engine(resolved what)
    : settings_(std::move(what.settings)),
      node_timeout_(settings_.node_timeout),
      generation_(fork_generation()),
      driver_(guard_, static_cast<driver::machinery&>(*this)) {
    for (const auto& where : what.endpoints) make_node(where, what.endpoints.size() == 1);
    if (*settings_.restart_guard) heartbeat_ = std::make_unique<heartbeat>(*this);
}

engine::~engine() {
    if (in_child()) return;
    driver_.stop();
}

void engine::make_node(const net::endpoint& where, bool patient) {
    net::node::settings how{
        .index = nodes_.size(),
        .link = {.where = where,
                 .client_name = settings_.client_name,
                 .policy = {.allow_eviction = settings_.allow_eviction,
                            .restart_guard = *settings_.restart_guard,
                            .max_ttl = settings_.max_ttl,
                            .guard_time = settings_.guard_time,
                            .clock = {.drift_per_mille = settings_.drift_per_mille}},
                 .connect_timeout = settings_.connect_timeout,
                 .silence_limit = node_timeout_ * silence_factor},
        .patient = patient};
    nodes_.push_back(std::make_unique<net::node>(driver_.io(), guard_, std::move(how),
                                                 static_cast<net::node::listener&>(*this)));
}

bool engine::in_child() const noexcept { return fork_generation() != generation_; }

void engine::close() noexcept {
    {
        auto held = lock();
        if (stage_ != stage::open) return;
        stage_ = stage::closing;
        rooms_.abort_all();
        hear_out(held);
        stage_ = stage::closed;
        fail_everything();
    }
    driver_.stop();
}

// A server that cannot write to a connection any more does not read on either: hanging up before
// the answers are there can take with it what was asked last, and that is releases.
void engine::hear_out(std::unique_lock<std::mutex>& lock) {
    core::node_set owing;
    for (const auto& node : nodes_) {
        if (node->has_unsent() || node->answers_on_their_way()) owing.insert(index_of(*node));
    }
    farewell::wait(*this, owing, clock::now() + longest_farewell, lock);
}

void engine::fail_everything() {
    const auto now = clock::now();
    if (heartbeat_) heartbeat_->stop();
    for (const auto& node : nodes_) {
        node->close({.code = errc::closed, .message = "the client was closed"});
    }
    for (auto* const lease : std::vector(holds_)) lease->lose(now);
}

void engine::send(core::node_index to, boost::intrusive_ptr<net::exchange> who,
                  net::exchange::tag request, core::time_point now) {
    auto& node = *nodes_[to.value];
    // The first contact takes a connection, and so does every one with the only node there is.
    const bool first = node.never_tried() || (nodes_.size() == 1 && !node.ready());
    const auto patience = first ? core::duration(settings_.connect_timeout) : core::duration{0};
    node.send(std::move(who), request, now + patience + node_timeout_, now);
}

// While somebody drives and answers are on their way, the next of them brings a flush, and whoever
// is about to drive begins with one: requests of many callers then share one write.
void engine::submit() {
    if (driver_.about_to_drive()) return;
    for (const auto& node : nodes_) {
        if (!driver_.driving() || !node->answers_on_their_way()) node->flush();
    }
}

void engine::owe_release(core::node_index to, plan_pointer what, std::string owner,
                         core::time_point until) {
    if (!closed()) debts_.owe(to, {std::move(what), std::move(owner), until}, until);
}

void engine::settle_release(core::node_index by, const std::string& owner) {
    debts_.settled(by, {.what = nullptr, .owner = owner, .until = {}});
}

void engine::pay_debts(core::node_index to, core::time_point now) {
    std::vector<debt> due;  // sending one may fail at once, and owe it again
    debts_.due(to, now, [&](const debt& each) { due.push_back(each); });
    for (auto& [what, owner, until] : due) {
        cleanup::start(*this, core::node_set::of(to), std::move(what), std::move(owner), until,
                       now);
    }
}

void engine::enlist(core::node_index which) {
    const auto& node = *nodes_[which.value];
    boost::intrusive_ptr<net::exchange> request(
        new enlistment(node.facts().run_id, nodes_[which.value]->judge().quarantine()));
    send(which, std::move(request), which.value, clock::now());
}

void engine::set(timer& which, core::time_point when) {
    timers_.set(which, when);
    if (when != core::never) driver_.attend_by(when);
}

void engine::enter(hold& lease) {
    holds_.push_back(&lease);
    lease.place(holds_.size() - 1);
    ++statistics_.held_now;
}

void engine::leave(hold& lease) {
    holds_[lease.place()] = holds_.back();
    holds_.back()->place(lease.place());
    holds_.pop_back();
    --statistics_.held_now;
}

void engine::log(log_level level, std::string_view event, std::string_view message,
                 std::string_view key, std::string_view node) const noexcept {
    if (!settings_.log) return;
    try {
        settings_.log({level, event, message, key, node});
    } catch (...) {  // NOLINT(bugprone-empty-catch): documented in log.hpp
    }
}

void engine::abandon() noexcept {
    for (const auto& node : nodes_) node->abandon();
    driver_.abandon();
}

void engine::flush() {
    for (const auto& node : nodes_) node->flush();
}

bool engine::list_sources(std::vector<driver::source>& all) {
    all.clear();
    for (const auto& node : nodes_) {
        if (node->silent()) continue;
        if (node->descriptor() == -1) return false;
        all.push_back({node->descriptor(), node->index()});
    }
    return true;
}

// Meanwhile the descriptor may be another connection's, or nobody's.
void engine::take_in(const driver::source& from) {
    auto& node = *nodes_[from.whose];
    if (!node.silent() && node.descriptor() == from.descriptor) node.take_in();
}

void engine::watch_sources() {
    for (const auto& node : nodes_) {
        if (!node->silent()) node->watch();
    }
}

void engine::fire(core::time_point now) {
    if (stage_ == stage::closed) return;
    for (const auto& node : nodes_) node->expire(now);
    timers_.fire(now);
    flush();
}

core::time_point engine::wake_at() const {
    if (stage_ == stage::closed) return core::never;
    auto earliest = timers_.next();
    for (const auto& node : nodes_) earliest = std::min(earliest, node->wake_at());
    return earliest;
}

bool engine::unattended() const {
    if (stage_ == stage::closed) return false;
    return unattended_ > 0 || std::any_of(nodes_.begin(), nodes_.end(),
                                          [](const auto& node) { return node->opening(); });
}

void engine::on_ready(net::node& which) {
    ++statistics_.connected;
    log(log_level::info, "connected", "connected", {}, which.name());
    const auto now = clock::now();
    if (which.said().quarantine.count() > 0) {
        log(log_level::warning, "quarantined",
            "restarted or new: it grants nothing for " + format_duration(which.said().quarantine),
            {}, which.name());
    }
    bar_conflicts();
    if (heartbeat_) heartbeat_->start(now);
    pay_debts(index_of(which), now);
    // What the server would have told us meanwhile is lost: look again.
    rooms_.told_all(index_of(which), now);
}

// Two votes of one server are one vote. Until somebody mends the list, nobody gets a lock by it.
void engine::bar_conflicts() {
    std::vector<core::server_facts> facts;
    for (const auto& node : nodes_) {
        facts.push_back(node->ready() ? node->facts() : core::server_facts{});
    }
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

void engine::on_down(net::node& which, const net::failure& why) {
    log(log_level::warning, "disconnected", why.message, {}, which.name());
    driver_.attend_by(which.wake_at());
}

void engine::on_push(net::node& which, resp::view message) {
    const auto what = message.at(0);
    const auto keys = message.at(1);
    if (!what || what->text() != "invalidate" || !keys) return;
    const auto now = clock::now();
    if (keys->is_null()) return rooms_.told_all(index_of(which), now);
    for (const auto key : *keys) rooms_.told(key.text(), index_of(which), now);
}

}  // namespace holdfast::runtime
