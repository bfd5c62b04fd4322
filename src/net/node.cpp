#include "net/node.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace holdfast::net {
namespace {

constexpr auto first_delay = std::chrono::milliseconds(20);
constexpr auto longest_delay = std::chrono::milliseconds(1000);

}  // namespace

node::node(boost::asio::io_context& io, std::mutex& guard, settings how, listener& whom)
    : io_(io),
      guard_(guard),
      settings_(std::move(how)),
      listener_(whom),
      delay_(first_delay, longest_delay),
      judge_(settings_.link.policy) {
    transport::check(io_, settings_.link.where);
}

void node::send(boost::intrusive_ptr<exchange> who, exchange::tag request,
                clock::time_point deadline, clock::time_point now) {
    if (state_ == state::ready) notice_hang_up(now);
    if (state_ == state::ready) return transmit({std::move(who), request, deadline}, now);
    if (!must_wait(now)) return who->failed(request, last_failure_);
    waiting_.push_back({std::move(who), request, deadline});
}

// Nobody reads an idle connection, so nobody saw it go. No request has failed: connect at once.
void node::notice_hang_up(clock::time_point now) {
    connection_->notice_hang_up(now);
    if (state_ == state::out) connect(now, state::connecting);
}

bool node::must_wait(clock::time_point now) {
    if (state_ == state::idle) connect(now, state::connecting);
    if (state_ == state::out && settings_.patient) connect(now, state::connecting);
    return state_ == state::connecting;
}

void node::transmit(waiting request, clock::time_point now) {
    if (request.who->asks_for_vote(request.request)) {
        if (const auto why = why_no_vote(now)) return request.who->failed(request.request, *why);
    }
    connection_->send(std::move(request.who), request.request, request.deadline, now);
}

void node::flush() {
    if (connection_) connection_->flush();
}

void node::expire(clock::time_point now) {
    retired_.clear();
    if (state_ == state::out && now >= retry_at_) {
        connect(now, settings_.patient ? state::connecting : state::probing);
    }
    if (connection_) connection_->expire(now);
    expire_waiting(now);
}

clock::time_point node::wake_at() const {
    auto earliest = clock::time_point::max();
    if (state_ == state::out) earliest = retry_at_;
    if (connection_) earliest = connection_->wake_at();
    for (const auto& request : waiting_) earliest = std::min(earliest, request.deadline);
    return earliest;
}

void node::connect(clock::time_point now, state as) {
    state_ = as;
    try {
        connection_ = std::make_unique<connection>(io_, guard_, settings_.link,
                                                   static_cast<connection::owner&>(*this), now);
    } catch (const std::system_error& thrown) {  // TLS files that have gone bad since
        on_down({.code = errc::invalid_option, .message = thrown.what()});
    }
    listener_.on_change(*this);
}

void node::on_ready(const greeting& said) {
    const auto now = clock::now();
    state_ = state::ready;
    delay_.reset();
    said_ = said;
    facts_ = said.facts();
    judge_.assess(facts_, now);
    listener_.on_ready(*this);
    // Not transmit(): what is sent first may find that the connection has broken again. The rest
    // then waits for the next one, or fails, like what comes later.
    for (auto& request : std::exchange(waiting_, {})) {
        if (request.who->wanted(request.request)) {
            send(std::move(request.who), request.request, request.deadline, now);
        } else {
            request.who->failed(request.request, {.message = "not connected in time"});
        }
    }
}

void node::on_down(const failure& why) {
    state_ = state::out;
    last_failure_ = why;
    retry_at_ = clock::now() + delay_.next(listener_.chance());
    judge_.disconnected();
    retired_.push_back(std::move(connection_));
    listener_.on_change(*this);
    listener_.on_down(*this, why);
    fail_waiting(why);
}

void node::on_push(resp::view message) { listener_.on_push(*this, message); }

void node::fail_waiting(const failure& why) {
    for (const auto& request : std::exchange(waiting_, {})) {
        request.who->failed(request.request, why);
    }
}

void node::expire_waiting(clock::time_point now) {
    if (waiting_.empty()) return;
    std::deque<waiting> late;
    std::erase_if(waiting_, [&](waiting& request) {
        const bool overdue = now >= request.deadline;
        if (overdue) late.push_back(std::move(request));
        return overdue;
    });
    for (const auto& request : late) {
        request.who->failed(request.request, {.message = "not connected in time"});
    }
}

std::optional<failure> node::why_no_vote(clock::time_point now) const {
    if (barred_) return barred_;
    if (!settings_.patient && connection_->stalled()) {
        return failure{.message = "owes an answer for too long already"};
    }
    if (judge_.may_vote(now)) return std::nullopt;
    if (judge_.at(now) == core::judge::standing::voided) {
        return failure{.code = errc::unsafe_server,
                       .message = "its clock jumped; it may not vote yet"};
    }
    if (judge_.reason() == core::judge::flaw::replica) {
        return failure{.code = errc::unsafe_server,
                       .message = "is a replica; give the master's address"};
    }
    return failure{errc::unsafe_server,
                   "maxmemory-policy is " + facts_.eviction_policy +
                       ", which may evict lock keys; set it to noeviction, or allow eviction",
                   true};
}

void node::close(const failure& why) {
    auto last = std::move(connection_);
    state_ = state::closed;
    last_failure_ = why;
    if (last) last->fail_all(why);
    retired_.push_back(std::move(last));
    fail_waiting(why);
}

void node::abandon() noexcept {
    if (connection_) connection_->abandon();
}

}  // namespace holdfast::net
