#include "runtime/engine.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "fork_guard.hpp"
#include "holdfast/clock.hpp"
#include "holdfast/error.hpp"
#include "runtime/cleanup.hpp"
#include "runtime/endpoints.hpp"
#include "runtime/enlistment.hpp"
#include "runtime/hold.hpp"

namespace holdfast::runtime {
namespace {

constexpr std::size_t max_debts_per_node = 4096;
constexpr int silence_factor = 3;  // unanswered for so many node timeouts: the server is gone

core::node_index index_of(const net::node& which) {
    return {static_cast<std::uint8_t>(which.index())};
}

options checked(options settings) {
    check(settings);
    if (settings.node_timeout.count() == 0) settings.node_timeout = std::chrono::seconds(1);
    return settings;
}

}  // namespace

engine::engine(options settings)
    : settings_(checked(std::move(settings))),
      node_timeout_(settings_.node_timeout),
      generation_(fork_generation()),
      driver_(guard_, static_cast<driver::machinery&>(*this)) {
    make_nodes();
}

engine::~engine() {
    if (in_child()) return;
    driver_.stop();
}

void engine::make_nodes() {
    const auto endpoints = endpoints_of(settings_);
    debts_.resize(endpoints.size());
    for (const auto& where : endpoints) {
        net::node::settings how{
            .index = nodes_.size(),
            .link = {.where = where,
                     .client_name = settings_.client_name,
                     .policy = {.allow_eviction = settings_.allow_eviction,
                                .restart_guard = settings_.restart_guard,
                                .max_ttl = settings_.max_ttl,
                                .guard_time = std::chrono::milliseconds(0),
                                .clock = {.drift_per_mille = settings_.drift_per_mille}},
                     .connect_timeout = settings_.connect_timeout,
                     .silence_limit = node_timeout_ * silence_factor},
            .patient = endpoints.size() == 1};
        nodes_.push_back(std::make_unique<net::node>(driver_.io(), guard_, std::move(how),
                                                     static_cast<net::node::listener&>(*this)));
    }
}

bool engine::in_child() const noexcept { return fork_generation() != generation_; }

void engine::close() noexcept {
    {
        const auto held = lock();
        if (std::exchange(closed_, true)) return;
        fail_everything();
    }
    driver_.stop();
}

void engine::fail_everything() {
    const auto now = clock::now();
    rooms_.abort_all();
    for (const auto& node : nodes_) {
        node->close({.code = errc::closed, .message = "the client was closed"});
    }
    for (auto* const lease : std::vector(holds_)) lease->lose(now);
}

void engine::send(core::node_index to, boost::intrusive_ptr<net::exchange> who,
                  net::exchange::tag request, core::time_point now) {
    auto& node = *nodes_[to.value];
    const auto patience = node.ready() ? core::duration{0} : settings_.connect_timeout;
    node.send(std::move(who), request, now + patience + node_timeout_, now);
}

// While somebody drives and answers are on their way, the next of them brings a flush: requests
// of many callers then share one write.
void engine::submit() {
    for (const auto& node : nodes_) {
        if (!driver_.driving() || !node->answers_on_their_way()) node->flush();
    }
}

void engine::owe_release(core::node_index to, plan_pointer what, std::string owner,
                         core::time_point until) {
    if (closed_ || until <= clock::now()) return;
    auto& debts = debts_[to.value];
    if (debts.size() == max_debts_per_node) debts.pop_front();  // its ttl will do
    debts.push_back({std::move(what), std::move(owner), until});
}

void engine::pay_debts(core::node_index to, core::time_point now) {
    for (auto& [what, owner, until] : std::exchange(debts_[to.value], {})) {
        if (until > now) {
            cleanup::start(*this, core::node_set::of(to), std::move(what), std::move(owner), until,
                           now);
        }
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

void engine::fire(core::time_point now) {
    if (closed_) return;
    for (const auto& node : nodes_) node->expire(now);
    timers_.fire(now);
    flush();
}

core::time_point engine::wake_at() const {
    if (closed_) return core::never;
    auto earliest = timers_.next();
    for (const auto& node : nodes_) earliest = std::min(earliest, node->wake_at());
    return earliest;
}

bool engine::unattended() const {
    if (closed_) return false;
    return unattended_ > 0 || std::any_of(nodes_.begin(), nodes_.end(),
                                          [](const auto& node) { return node->opening(); });
}

void engine::on_ready(net::node& which) {
    ++statistics_.connected;
    log(log_level::info, "connected", "connected", {}, which.name());
    const auto now = clock::now();
    pay_debts(index_of(which), now);
    // What the server would have told us meanwhile is lost: look again.
    rooms_.told_all(index_of(which), now);
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
