#include "net/connection.hpp"

#include <algorithm>
#include <utility>

#include "resp/encoder.hpp"

namespace holdfast::net {
namespace {

constexpr std::size_t first_buffer = std::size_t{16} * 1024;

// After this long without a word it is worth a system call to ask whether the server is there.
constexpr auto idle_time = std::chrono::milliseconds(1);

introduction introduce(const connection::settings& how) {
    return {how.where.user, how.where.password, how.client_name, how.where.database, how.policy};
}

bool knows_no_script(std::string_view reply) { return reply.starts_with("-NOSCRIPT"); }

}  // namespace

connection::connection(boost::asio::io_context& io, std::mutex& guard, const settings& how,
                       owner& listener, clock::time_point now)
    : listener_(listener),
      settings_(how),
      handshake_(introduce(how)),
      transport_(transport::make(io, how.where, guard, *this)),
      opening_until_(now + how.connect_timeout) {
    transport_->open();
}

connection::~connection() { transport_->close(); }

void connection::send(boost::intrusive_ptr<exchange> who, exchange::tag request,
                      clock::time_point deadline, clock::time_point now) {
    if (slots_.empty()) heard_ = now;
    append({std::move(who), request, deadline, false});
}

void connection::notice_hang_up(clock::time_point now) {
    const bool idle = state_ == state::ready && slots_.empty() && now - heard_ >= idle_time;
    if (idle && transport_->hung_up()) go_down({.message = "connection closed by the server"});
}

void connection::append(slot request) {
    request.preceded =
        handshake_.result().tracking && request.who->asks_to_be_told(request.request);
    if (request.preceded) resp::append_command(out_, {"CLIENT", "CACHING", "YES"});
    request.who->encode(request.request, request.by_text, out_);
    if (slots_.full()) slots_.set_capacity(2 * slots_.capacity());
    slots_.push_back(std::move(request));
    ++unsent_;
}

void connection::flush() {
    if (out_.empty() || !writing_.empty() || state_ == state::opening || state_ == state::down) {
        return;
    }
    unsent_ = 0;
    const auto sent = transport_->write_now(out_);
    if (sent == out_.size()) return out_.clear();
    out_.erase(0, sent);
    writing_.swap(out_);
    transport_->write(writing_);
    listener_.on_blocked();
}

void connection::expire(clock::time_point now) {
    if (state_ == state::down) return;
    if (state_ != state::ready) {
        const bool maybe_plain = settings_.where.tls && state_ == state::opening;
        const auto* const hint = maybe_plain ? "; is it a port for TLS?" : "";
        if (now >= opening_until_)
            go_down({.message = std::string("no answer while connecting") + hint});
        return;
    }
    while (expired_ < slots_.size() && now >= slots_[expired_].deadline) {
        const auto late = std::exchange(slots_[expired_++].who, nullptr);
        const auto request = slots_[expired_ - 1].request;
        if (late) late->failed(request, {.message = "no answer in time"});
    }
    if (!slots_.empty() && now >= heard_ + settings_.silence_limit) {
        go_down({.message = "silent for too long"});
    }
}

clock::time_point connection::wake_at() const {
    if (state_ == state::down) return clock::time_point::max();
    if (state_ != state::ready) return opening_until_;
    if (slots_.empty()) return clock::time_point::max();
    const auto silence = heard_ + settings_.silence_limit;
    return expired_ < slots_.size() ? std::min(slots_[expired_].deadline, silence) : silence;
}

void connection::on_open(std::optional<failure> why_not) {
    if (why_not) return go_down(*why_not);
    state_ = state::greeting;
    handshake_.start(out_);
    flush();
    read_more();
}

void connection::on_written() {
    writing_.clear();
    flush();
}

void connection::on_broken(const failure& why) {
    auto reason = why;
    if (state_ == state::greeting) reason.message += " during the handshake";
    go_down(reason);
}

void connection::on_read(std::size_t bytes) {
    heard_ = clock::now();
    received_ += bytes;
    take_frames();
    if (state_ == state::down) return;
    flush();
    read_more();
}

void connection::read_more() {
    if (consumed_ == received_) consumed_ = received_ = 0;
    if (received_ == in_.size()) {
        in_.erase(0, consumed_);
        received_ -= std::exchange(consumed_, 0);
        in_.resize(std::max(first_buffer, received_ * 2));
    }
    transport_->read({in_.data() + received_, in_.size() - received_});
}

void connection::take_frames() {
    while (state_ != state::down && consumed_ < received_) {
        const std::string_view bytes(in_.data() + consumed_, received_ - consumed_);
        const auto found = framer_.scan(bytes);
        if (found == resp::framing::incomplete) return;
        if (found == resp::framing::malformed) {
            return go_down({errc::protocol,
                            "not a Redis: " + std::string(framer_.error()) + " at byte " +
                                std::to_string(framer_.error_position()),
                            true});
        }
        const auto frame = bytes.substr(0, framer_.size());
        consumed_ += frame.size();
        framer_.reset();
        take_frame(frame);
    }
}

void connection::take_frame(std::string_view frame) {
    const resp::view value(frame);
    if (value.kind() == resp::kind::push) {
        if (state_ == state::ready) listener_.on_push(value);
    } else if (state_ == state::greeting) {
        take_greeting(value);
    } else {
        take_reply(frame);
    }
}

void connection::take_greeting(resp::view reply) {
    handshake_.step(reply, out_);
    if (handshake_.current() == handshake::state::failed) return go_down(handshake_.why());
    if (handshake_.current() != handshake::state::done) return;
    state_ = state::ready;
    listener_.on_ready(handshake_.result());
}

void connection::take_reply(std::string_view reply) {
    if (slots_.empty()) {
        return go_down({errc::protocol, "an answer that nobody asked for", true});
    }
    if (std::exchange(slots_.front().preceded, false)) return;
    auto first = std::move(slots_.front());
    slots_.pop_front();
    if (expired_ > 0) --expired_;
    if (!first.who) return;
    if (knows_no_script(reply) && !first.by_text && first.who->wanted(first.request)) {
        first.by_text = true;
        return append(std::move(first));  // the deadline stays
    }
    const auto who = std::move(first.who);
    who->answered(first.request, reply);
}

// The owner hears of it first: whoever is told of a failed request may well send another one, and
// that must find the node as it is now. The owner keeps this object until the stack has unwound.
void connection::go_down(const failure& why) {
    if (state_ == state::down) return;
    state_ = state::down;
    const auto reason = why;
    listener_.on_down(reason);
    fail_all(reason);
}

void connection::fail_all(const failure& why) {
    state_ = state::down;
    transport_->close();
    expired_ = 0;
    auto unanswered = std::move(slots_);
    slots_ = decltype(slots_){first_slots};
    for (const auto& left : unanswered) {
        if (left.who) left.who->failed(left.request, why);
    }
}

}  // namespace holdfast::net
