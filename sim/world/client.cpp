#include "sim/world/client.hpp"

#include <algorithm>

#include "kinds/shared.hpp"

namespace holdfast::sim {
namespace {

using std::chrono::milliseconds;

milliseconds whole(core::duration d) { return std::chrono::ceil<milliseconds>(d); }

// A majority is what Sentinels bring with them. Not everybody begins with the same of them.
void lead_to_group(options& made, const plan& settings, std::uint32_t client) {
    const auto& group = settings.group;
    std::string names;
    for (std::size_t n = 0; n < group.sentinels; ++n) {
        names += (names.empty() ? "n" : ",n") + std::to_string((client + n) % group.sentinels);
    }
    made.urls = {group.sentinels == 0 ? "redis://address" : "redis+sentinel://" + names + "/main"};
    if (group.sentinels == 0 || group.acks != replicas::majority()) made.replica_acks = group.acks;
}

options options_for(const plan& settings, std::uint32_t client) {
    options made;
    if (settings.grouped()) {
        lead_to_group(made, settings, client);
    } else {
        for (std::size_t n = 0; n < settings.nodes; ++n) {
            made.urls.push_back("redis://s" + std::to_string(n));
        }
    }
    made.node_timeout = whole(settings.node_timeout);
    made.connect_timeout = whole(settings.node_timeout * (settings.grouped() ? 6 : 3));
    made.patience = whole(settings.timing.ttl * 4);
    made.max_ttl = whole(settings.max_ttl_of(client));
    made.fence_retention = std::max(whole(settings.fence_retention), made.max_ttl);
    made.guard_time = whole(settings.timing.guard_time);
    made.drift_per_mille = settings.timing.drift_per_mille;
    made.restart_guard = settings.restart_guard;
    return made;
}

// Counters that are kept for less time than the library allows show what expires too early.
runtime::plan_pointer plan_of(const runtime::engine& through, const plan& settings, bool limited,
                              bool fair, bool reads) {
    auto made = runtime::make_plan(through.settings(), lock_key, wish_for(settings, limited, fair),
                                   reads ? kinds::shared() : kinds::exclusive());
    std::const_pointer_cast<runtime::plan>(made)->retention = settings.fence_retention;
    return made;
}

}  // namespace

acquire_options wish_for(const plan& settings, bool limited, bool fair) {
    acquire_options made;
    made.ttl = whole(settings.timing.ttl);
    made.renew = settings.renewing;
    if (limited && settings.renewing) made.max_hold = whole(settings.timing.ttl * 2);
    made.fencing = settings.fencing;
    made.fair = fair;
    made.min_validity = whole(settings.timing.min_validity);
    made.loss_notice = whole(settings.notice);
    made.await_release = false;  // who wants to know what came of it asks
    return made;
}

client::client(world& in, network& on, checkers& watched, fenced_register& shared,
               std::uint32_t index, const machine_clock& clock)
    : process_(in, index, clock),
      network_(on),
      checkers_(watched),
      register_(shared),
      around_(std::make_shared<simulated_environment>(process_, on)),
      engine_(std::make_shared<runtime::engine>(around_, options_for(in.settings(), index))),
      ready_(in.settings().nodes),
      able_since_(in.settings().nodes, instant::max()) {
    if (in.settings().of_other_kind()) wishes_ = std::make_unique<kind_wishes>(*engine_, process_);
    const bool some_fair = in.settings().fair != fairness::nobody;
    for (unsigned way = 0; way < plans_.size(); ++way) {
        const bool limited = (way & 1U) != 0;
        const bool fair = (way & 2U) != 0;
        const bool reads = (way & 4U) != 0;
        if ((fair && !some_fair) || (reads && !in.settings().shared)) continue;
        plans_[way] = plan_of(*engine_, in.settings(), limited, fair, reads);
    }
    if (in.settings().kind.which == other_kind::latch) {
        gather_participants();
        return;
    }
    for (std::uint32_t each = 0; each < in.settings().workers; ++each) {
        callers_.push_back(std::make_unique<caller>(*this, each));
    }
    if ((in.settings().kind.observers >> index & 1U) != 0) {
        observer_ = std::make_unique<observer>(*this);
    }
}

runtime::plan_pointer client::plan_for(std::uint32_t caller, bool limited, bool fair, bool reads) {
    if (wishes_) return wishes_->draw(caller, limited, fair);
    return plans_[(limited ? 1U : 0U) + (fair ? 2U : 0U) + (reads ? 4U : 0U)];
}

void client::gather_participants() {
    public_ = std::make_unique<::holdfast::client>(public_client_of(engine_));
    for (std::uint32_t each = 0; each < process_.settings().workers; ++each) {
        participants_.push_back(std::make_unique<participant>(*this, each));
    }
}

client::~client() {
    closed_ = true;
    engine_->close();
    participants_.clear();
    observer_.reset();
    callers_.clear();
}

void client::start() {
    for (auto& each : callers_) each->start();
    if (observer_) observer_->start();
    for (auto& each : participants_) each->start();
}

void client::crash() {
    crashed_ = true;
    checkers_.crashed(process_.index());
}

void client::healed() {
    if (crashed_) return;
    for (auto& each : callers_) each->healed();
    for (auto& each : participants_) each->healed();
    settle();
}

void client::looks(std::uint32_t generation) {
    if (!around_->driver().expects(generation)) return;
    around_->driver().turn(around_->open_streams());
    settle();
}

void client::connected(stream& which, bool refused) {
    around_->driver().turn_with(around_->open_streams(), [&] { which.opened(refused); });
    settle();
}

void client::bytes_arrive(stream& which) {
    which.arrived(which.down.front_bytes());
    which.down.pop();
    came_down(which);
}

void client::break_heard(stream& which) {
    which.broke();
    came_down(which);
}

// While nobody polls, it lies there.
void client::came_down(stream& which) {
    if (which.closed() || !around_->driver().polls()) return;
    around_->driver().turn(around_->open_streams());
    settle();
}

void client::writable(stream& which) {
    around_->driver().turn_with(around_->open_streams(), [&] { which.written(); });
    settle();
}

void client::callbacks() {
    around_->driver().run_callbacks();
    settle();
}

void client::caller_acts(std::uint32_t which, std::uint32_t generation) {
    if (which == observer::slot) {
        observer_->act(generation);
    } else if (!participants_.empty()) {
        participants_[which]->act(generation);
    } else {
        callers_[which]->act(generation);
    }
    settle();
}

void client::gather() {
    for (auto& each : callers_) each->come_along();
}

bool client::satisfied() {
    if (crashed_ || process_.settings().is_outsider(process_.index())) return true;
    // What was counted, and forgotten, nobody counts again.
    const bool waits_in_vain = !participants_.empty() && process_.settings().forgets();
    if (waits_in_vain) return process_.in().healed();
    return std::ranges::all_of(callers_, [](const auto& each) { return each->satisfied(); }) &&
           std::ranges::all_of(participants_, [](const auto& each) { return each->satisfied(); });
}

bool client::at_rest() {
    if (crashed_ || process_.settings().is_outsider(process_.index())) return true;
    return sees_nobody_lead() &&
           std::ranges::all_of(callers_, [](const auto& each) { return each->at_rest(); }) &&
           std::ranges::none_of(around_->open_streams(),
                                [](const stream* each) { return each->blocked(); });
}

void client::settle() {
    for (auto& each : callers_) each->observe();
    if (std::ranges::none_of(callers_, [](const auto& each) { return each->waits(); })) {
        checkers_.nobody_asks(process_.index(), process_.now());
    }
    for (std::uint32_t n = 0; n < ready_.size(); ++n) {
        auto& node = engine_->node({static_cast<std::uint8_t>(n)});
        const bool ready = node.ready();
        const bool fit = node.judge().at(process_.local()) == core::judge::standing::fit;
        able_since_[n] = ready && fit ? std::min(able_since_[n], process_.now()) : instant::max();
        if (ready == ready_[n]) continue;
        ready_[n] = ready;
        if (process_.settings().grouped()) {
            network_.disturb_client(process_.index(), process_.now());
        } else {
            network_.disturb(process_.index(), n, process_.now());
        }
    }
    around_->driver().settle();
}

instant client::able_since(std::uint32_t server) {
    if (crashed_ || process_.paused() || !in_order(server)) return instant::max();
    if (able_since_[server] == instant::max()) return instant::max();
    return std::max({able_since_[server], process_.paused_until(),
                     network_.disturbed_at(process_.index(), server)});
}

bool client::in_order(std::uint32_t server) {
    const bool grouped = process_.settings().grouped();
    if (!ready_[grouped ? 0 : server]) return false;
    const auto open = around_->open_streams();
    const auto is_there = [&](const stream* each) { return each->server() == server; };
    if (grouped && std::ranges::none_of(open, is_there)) return false;
    return std::ranges::all_of(
        open, [&](const stream* each) { return !is_there(each) || each->in_order(); });
}

}  // namespace holdfast::sim
