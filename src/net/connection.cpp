#include "net/connection.hpp"

#include <algorithm>
#include <utility>

#include "core/tuning.hpp"
#include "net/explain.hpp"
#include "resp/encoder.hpp"

namespace holdfast::net {
namespace {

using core::tuning::servers::first_buffer;
using core::tuning::servers::idle_time;

introduction introduce(const connection::settings& how) {
    return {.user = how.where.user,
            .password = how.where.password,
            .client_name = how.client_name,
            .database = how.where.database,
            .policy = how.policy,
            .what_for = how.what_for,
            .vouched_life = how.vouched_life,
            .loads = how.loads,
            .channel = how.channel,
            .group = how.group,
            .acks = how.acks,
            .clustered = how.clustered};
}

bool knows_no_script(std::string_view reply) { return reply.starts_with("-NOSCRIPT"); }

// An invalidation of every key there is.
bool says_emptied(resp::view push) {
    const auto what = push.at(0);
    const auto keys = push.at(1);
    return what && what->text() == "invalidate" && keys && keys->is_null();
}

// It is no answer to anything else.
bool confirms_subscription(resp::view push) {
    const auto what = push.at(0);
    return what && (what->text() == "subscribe" || what->text() == "ssubscribe");
}

}  // namespace

connection::connection(network& through, base::client_mutex& guard, const settings& how,
                       owner& listener, clock::time_point now)
    : network_(through),
      listener_(listener),
      settings_(how),
      handshake_(introduce(how)),
      transport_(through.make_transport(how.where, how.shows, guard, *this)),
      opening_until_(now + how.connect_timeout) {
    transport_->open();
}

connection::~connection() { transport_->close(); }

template <typename Step>
void connection::contain(Step&& step) noexcept {
    try {
        step();
    } catch (...) {
        go_down(current_failure());
    }
}

void connection::send(boost::intrusive_ptr<exchange> who, exchange::tag request,
                      clock::time_point deadline, clock::time_point now) noexcept {
    if (asked_.empty()) heard_ = now;
    append({std::move(who), request, deadline});
}

void connection::notice_hang_up(clock::time_point now) {
    const bool idle = state_ == state::ready && asked_.empty() && now - heard_ >= idle_time;
    if (!idle) return;
    if (transport_->descriptor() != -1) return take_in();
    if (transport_->hung_up()) go_down(no_answer("connection closed by the server"));
}

// Half a request would make nonsense of all that follow it.
void connection::append(pipeline::request what) noexcept {
    const auto before = out_.size();
    try {
        asked_.reserve_one();
        encode(what);
    } catch (...) {
        out_.resize(before);
        return what.who->failed(what.tag, current_failure());
    }
    asked_.push(std::move(what));
    ++unsent_;
}

void connection::encode(pipeline::request& what) {
    const bool asking = what.who->asks_by_permission(what.tag);
    const bool listens =
        !asking && handshake_.result().tracking && what.who->asks_for_notification(what.tag);
    what.preceded = asking || listens;
    what.by_push = what.who->answered_by_push(what.tag);
    if (asking) resp::append_command(out_, {"ASKING"});
    if (listens) resp::append_command(out_, {"CLIENT", "CACHING", "YES"});
    what.who->encode(what.tag, what.by_text, out_);
}

void connection::take_in() noexcept {
    contain([this]() HOLDFAST_LOCKED { transport_->take_in(); });
}

void connection::flush() noexcept {
    if (out_.empty() || !writing_.empty() || state_ == state::opening || state_ == state::down) {
        return;
    }
    unsent_ = 0;
    const auto sent = transport_->write_now(out_);
    if (sent == out_.size()) return out_.clear();
    out_.erase(0, sent);
    writing_.swap(out_);
    contain([this]() HOLDFAST_LOCKED {
        transport_->write(writing_);
        listener_.on_blocked();
    });
}

void connection::expire(clock::time_point now) noexcept {
    if (state_ == state::down) return;
    if (state_ != state::ready) {
        const bool maybe_plain = settings_.where.tls && state_ == state::opening;
        if (now < opening_until_) return;
        return go_down(no_answer(
            maybe_plain ? "no answer while connecting; if it speaks no TLS there, use redis://"
                        : "no answer while connecting"));
    }
    asked_.expire(now, [](exchange& late, exchange::tag request) HOLDFAST_LOCKED {
        late.failed(request, no_answer("no answer in time"));
    });
    if (!asked_.empty() && now >= heard_ + settings_.silence_limit) {
        go_down(no_answer("silent for too long"));
    }
}

clock::time_point connection::wake_at() const {
    if (state_ == state::down) return clock::time_point::max();
    if (state_ != state::ready) return opening_until_;
    if (asked_.empty()) return clock::time_point::max();
    return std::min(asked_.next_deadline(), heard_ + settings_.silence_limit);
}

void connection::on_open(std::optional<failure> why_not) {
    if (why_not) return go_down(*why_not);
    contain([this]() HOLDFAST_LOCKED {
        state_ = state::greeting;
        handshake_.start(out_);
        flush();
        if (state_ != state::down) read_more();
    });
}

void connection::on_written() {
    writing_.clear();
    flush();
}

void connection::on_broken(const failure& why) {
    contain([&]() HOLDFAST_LOCKED {
        auto reason = why;
        if (state_ == state::greeting) reason.message += " during the handshake" + tls_hint();
        go_down(reason);
    });
}

// A server that expects TLS takes HELLO for nonsense: it hangs up, or sends an alert first. One
// that wants a certificate says so in an alert, which the end of the connection may overtake.
std::string connection::tls_hint() const {
    constexpr char alert = 0x15;
    const auto& where = settings_.where;
    const bool silent = received_ == 0 || in_.front() == alert;
    const bool first = state_ == state::greeting && handshake_.current() == handshake::state::hello;
    if (!silent || !first || where.transport != endpoint::transport_kind::tcp) return {};
    if (!where.tls) return "; if it expects TLS there, use rediss://";
    if (!where.tls_options.certificate_file.empty()) return {};
    return "; if it wants a certificate of ours, give tls.certificate_file and tls.key_file";
}

void connection::on_read(std::size_t bytes) {
    heard_ = network_.now();
    received_ += bytes;
    contain([this]() HOLDFAST_LOCKED {
        take_frames();
        flush();
        if (state_ != state::down) read_more();
    });
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
                                std::to_string(framer_.error_position()) + tls_hint(),
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
        take_push(frame);
    } else if (state_ == state::greeting) {
        take_greeting(value);
    } else {
        take_reply(frame);
    }
}

// It comes before the answer to whatever ran after it: a grant behind it is one of a server that
// has forgotten who else holds the lock.
void connection::take_push(std::string_view frame) {
    const resp::view message(frame);
    const bool emptied = says_emptied(message);
    if (state_ == state::greeting && emptied) return handshake_.emptied();
    if (state_ == state::greeting && confirms_subscription(message)) return take_greeting(message);
    if (state_ != state::ready) return;
    if (!asked_.empty() && asked_.front().by_push && confirms_subscription(message)) {
        return take_reply(frame);
    }
    if (emptied) {
        return go_down({.message = "it was emptied; its locks may be gone", .emptied = true});
    }
    listener_.on_push(message);
}

void connection::take_greeting(resp::view reply) {
    handshake_.step(reply, out_);
    if (handshake_.current() == handshake::state::failed) return go_down(handshake_.why());
    if (handshake_.current() != handshake::state::done) return;
    state_ = state::ready;
    listener_.on_ready(handshake_.result());
}

void connection::take_reply(std::string_view reply) {
    if (asked_.empty()) {
        return go_down({errc::protocol, "an answer that nobody asked for", true});
    }
    if (std::exchange(asked_.front().preceded, false)) return;
    auto first = asked_.pop();
    if (!first.who) return;
    if (knows_no_script(reply) && !first.by_text && first.who->wanted(first.tag)) {
        if (const auto why = listener_.why_not_again(*first.who, first.tag)) {
            return first.who->failed(first.tag, *why);
        }
        first.by_text = true;
        return append(std::move(first));  // the deadline stays
    }
    const auto who = std::move(first.who);
    // In a Cluster it is about one slot, if it is MOVED: whoever asked knows.
    const bool demoted =
        says_not_the_master(reply) && !(settings_.clustered && reply.starts_with("-MOVED"));
    try {
        who->answered(first.tag, reply);
    } catch (...) {
        who->failed(first.tag, current_failure());
    }
    if (demoted) go_down({.code = errc::unsafe_server, .message = "is not the master any more"});
}

// The owner hears of it first: whoever is told of a failed request may well send another one, and
// that must find the node as it is now. The owner keeps this object until the stack has unwound.
void connection::go_down(const failure& why) noexcept {
    if (state_ == state::down) return;
    state_ = state::down;
    const auto reason = copy_of(why);
    listener_.on_down(reason);
    fail_all(reason);
}

void connection::fail_all(const failure& why) noexcept {
    state_ = state::down;
    transport_->close();
    asked_.clear([&](exchange& left, exchange::tag request)
                     HOLDFAST_LOCKED { left.failed(request, why); });
}

}  // namespace holdfast::net
