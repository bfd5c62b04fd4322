#include "net/node.hpp"

#include <algorithm>
#include <utility>

#include "core/tuning.hpp"
#include "holdfast/duration.hpp"

namespace holdfast::net {

using namespace core::tuning::servers;

node::node(network& through, base::client_mutex& guard, settings how, listener& whom)
    : network_(through),
      guard_(guard),
      settings_(std::move(how)),
      listener_(whom),
      delay_(first_delay, longest_delay),
      judge_(settings_.link.policy) {
    if (!settings_.prepared) settings_.link.shows = network_.prepare(settings_.link.where);
    if (!settings_.resolves) {
        settings_.resolves = std::make_shared<fixed_address>(settings_.link.where);
    }
}

node::~node() { stop_resolving(); }

void node::send(boost::intrusive_ptr<exchange> who, exchange::tag request,
                clock::time_point deadline, clock::time_point now) noexcept {
    waiting asked{std::move(who), request, deadline};
    try {
        accept(asked, now);
    } catch (...) {
        asked.who->failed(asked.request, current_failure());
    }
}

// Whatever throws does so before the request is handed on.
void node::accept(waiting& asked, clock::time_point now) {
    if (state_ == state::ready) notice_hang_up(now);
    if (state_ == state::ready && asked.who->asks_for_vote(asked.request)) {
        look_again_if_unfit(asked, now);
    }
    if (state_ == state::ready) return transmit(asked, now);
    if (!must_wait(now)) return asked.who->failed(asked.request, last_failure_);
    waiting_.push_back(std::move(asked));
}

// Nobody reads an idle connection, so nobody saw it go. No request has failed: connect at once.
void node::notice_hang_up(clock::time_point now) {
    connection_->notice_hang_up(now);
    if (state_ == state::out) connect(now, state::connecting);
}

// So is one that kept the right to enlist it from us: the right may have been given since.
void node::look_again_if_unfit(const waiting& asked, clock::time_point now) {
    const bool kept = said_.not_enlisted && asked.who->asks_for_token(asked.request);
    const bool unfit = judge_.at(now) == core::judge::standing::unfit;
    if (!(unfit || kept) || now - assessed_at_ < unfit_for || !connection_->idle()) return;
    start_over(unfit ? why_unfit() : *said_.not_enlisted);
}

bool node::must_wait(clock::time_point now) {
    if (state_ == state::idle) connect(now, state::connecting);
    // One that was emptied is there: it only has to be met anew.
    const bool at_once = settings_.patient || last_failure_.emptied;
    if (state_ == state::out && at_once) connect(now, state::connecting);
    return state_ == state::connecting;
}

void node::transmit(waiting& request, clock::time_point now) {
    if (const auto why = why_no_vote(*request.who, request.request, now)) {
        return request.who->failed(request.request, *why);
    }
    connection_->send(std::move(request.who), request.request, request.deadline, now);
}

void node::flush() noexcept {
    if (connection_) connection_->flush();
}

void node::expire(clock::time_point now) noexcept {
    retired_.reset();
    if (state_ == state::out && now >= retry_at_) {
        connect(now, settings_.patient ? state::connecting : state::probing);
    }
    if (resolving_ && now >= resolved_by()) {
        stop_resolving();
        on_down(no_answer("no address in time"));
    }
    if (connection_) connection_->expire(now);
    expire_waiting(now);
}

clock::time_point node::wake_at() const {
    auto earliest = clock::time_point::max();
    if (state_ == state::out) earliest = retry_at_;
    if (resolving_) earliest = resolved_by();
    if (connection_) earliest = connection_->wake_at();
    for (const auto& request : waiting_) earliest = std::min(earliest, request.deadline);
    return earliest;
}

void node::connect(clock::time_point now, state as) noexcept {
    stop_resolving();
    state_ = as;
    connecting_since_ = now;
    resolving_ = true;
    settings_.resolves->ask(*this);
    if (resolving_) listener_.on_change(*this);
}

void node::stop_resolving() noexcept {
    if (std::exchange(resolving_, false)) settings_.resolves->withdraw();
}

void node::on_found(const endpoint& where) noexcept {
    resolving_ = false;
    try {
        if (where != settings_.link.where) settings_.link.where = where;
        connection_ =
            std::make_unique<connection>(network_, guard_, settings_.link,
                                         static_cast<connection::owner&>(*this), connecting_since_);
    } catch (...) {
        return on_down(current_failure());
    }
    listener_.on_change(*this);
}

void node::on_not_found(const failure& why) noexcept {
    resolving_ = false;
    on_down(why);
}

void node::stop_vouching() noexcept {
    settings_.link.what_for = purpose::lock;
    settings_.link.vouched_life.clear();
}

void node::vouch(std::string life, clock::time_point now) {
    settings_.link.what_for = purpose::vouch;
    settings_.link.vouched_life = std::move(life);
    if (state_ != state::out && !opening()) return;
    if (connection_) connection_->hang_up({.message = "is connected to anew, to vouch for it"});
    connect(now, state::connecting);
}

void node::on_ready(const greeting& said) {
    const auto now = network_.now();
    state_ = state::ready;
    tried_ = true;
    delay_.reset();
    said_ = said;
    facts_ = said.facts();
    assessed_at_ = now;
    judge_.assess(facts_, now);
    if (said.enlisted) enlisted(*said.enlisted, now);
    listener_.on_ready(*this);
    // Not transmit(): what is sent first may find that the connection has broken again. The rest
    // then waits for the next one, or fails, like what comes later.
    for (auto& request : std::exchange(waiting_, {})) {
        if (request.who->wanted(request.request)) {
            send(std::move(request.who), request.request, request.deadline, now);
        } else {
            request.who->failed(request.request, no_answer("not connected in time"));
        }
    }
    if (state_ == state::ready) listener_.on_caught_up(*this);
}

void node::rest() noexcept {
    const bool needed = !waiting_.empty() || (connection_ && !connection_->idle());
    if (needed || state_ == state::closed || state_ == state::idle) return;
    stop_resolving();
    auto last = std::move(connection_);
    state_ = state::idle;
    judge_.disconnected();
    if (last) last->fail_all(no_answer("not needed at present"));
    retire(std::move(last));
    listener_.on_change(*this);
}

std::uint64_t node::time_at(clock::time_point now) const {
    if (time_ == 0) return 0;
    const auto since = std::chrono::floor<std::chrono::microseconds>(now - told_time_at_);
    return time_ + static_cast<std::uint64_t>(since.count());
}

void node::on_down(const failure& why) noexcept {
    state_ = state::out;
    tried_ = true;
    last_failure_ = copy_of(why);
    retry_at_ = network_.now() + delay_.next(listener_.chance());
    judge_.disconnected();
    retire(std::move(connection_));
    listener_.on_change(*this);
    listener_.on_down(*this, why);
    fail_waiting(why);
}

void node::on_push(resp::view message) { listener_.on_push(*this, message); }

void node::retire(std::unique_ptr<connection> last) noexcept {
    if (!last) return;
    last->keep(std::move(retired_));
    retired_ = std::move(last);
}

void node::fail_waiting(const failure& why) noexcept {
    for (const auto& request : std::exchange(waiting_, {})) {
        request.who->failed(request.request, why);
    }
}

// Whoever is told may ask again, and then stands at the end.
void node::expire_waiting(clock::time_point now) noexcept {
    for (std::size_t n = 0; n < waiting_.size();) {
        if (now < waiting_[n].deadline) {
            ++n;
            continue;
        }
        const auto late = std::move(waiting_[n]);
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(n));
        late.who->failed(late.request, no_answer("not connected in time"));
    }
}

std::optional<failure> node::why_no_vote(const exchange& who, exchange::tag request,
                                         clock::time_point now) const {
    if (!who.asks_for_vote(request)) return std::nullopt;
    if (barred_) return barred_;
    if (!settings_.patient && connection_->stalled()) {
        return failure{.message = "owes an answer for too long already"};
    }
    if (said_.not_enlisted && who.asks_for_token(request)) {
        return said_.not_enlisted;
    }
    switch (judge_.at(now)) {
        case core::judge::standing::fit: return std::nullopt;
        case core::judge::standing::voided:
            return failure{.code = errc::unsafe_server,
                           .message = "its clock jumped; it may not vote yet"};
        case core::judge::standing::quarantined:
            return failure{.code = errc::unsafe_server,
                           .message = "it is in quarantine; it may not vote yet",
                           .quarantine = judge_.quarantined_until() - now};
        case core::judge::standing::unjudged:
        case core::judge::standing::unfit: break;
    }
    return why_unfit();
}

failure node::disagreement(const core::enlistment& found) const {
    return {errc::other_max_ttl,
            "its clients agreed on a max_ttl of " + format_duration(found.max_ttl) +
                ", and this one has " + format_duration(judge_.max_ttl()),
            true};
}

failure node::why_unfit() const {
    using flaw = core::judge::flaw;
    switch (judge_.reason()) {
        case flaw::replica:
            return {.code = errc::unsafe_server,
                    .message = "is a replica; give the master's address"};
        case flaw::untracked:
            return {errc::unsafe_server,
                    "does not tell when it is emptied (CLIENT TRACKING with RESP3), which the "
                    "restart guard needs",
                    true};
        case flaw::other_max_ttl: return disagreement(*said_.enlisted);
        case flaw::evicts:
        case flaw::none: break;
    }
    return {errc::unsafe_server,
            "maxmemory-policy is " + facts_.eviction_policy +
                ", which may evict lock keys; set it to noeviction, or set allow_eviction",
            true};
}

void node::close(const failure& why) noexcept {
    stop_resolving();
    auto last = std::move(connection_);
    state_ = state::closed;
    last_failure_ = copy_of(why);
    if (last) last->fail_all(why);
    retire(std::move(last));
    fail_waiting(why);
}

void node::abandon() noexcept {
    if (connection_) connection_->abandon();
}

}  // namespace holdfast::net
