#include "runtime/operations/watching.hpp"

#include <algorithm>
#include <utility>

#include "core/tuning.hpp"

namespace holdfast::runtime {

namespace pace = core::tuning::waiting;

watching::watching(engine_pointer through, request wish, listener done)
    : engine_(std::move(through)),
      request_(std::move(wish)),
      done_(std::move(done)),
      voters_(engine_->voters_of(request_.what->lock())),
      answers_(voters_.size() * request_.what->questions()),
      pause_(pace::first_delay, pace::longest_delay),
      polling_(pace::first_delay, pace::longest_delay) {}

watching::~watching() = default;

template <typename Step>
void watching::contain(Step&& step) noexcept {
    const boost::intrusive_ptr<watching> alive(this);
    try {
        step();
    } catch (...) {
        if (!over()) conclude({.how = outcome::failed, .thrown = std::current_exception()});
    }
}

void watching::start(core::time_point now) noexcept {
    if (engine_->closed()) return abort();
    contain([&]() HOLDFAST_LOCKED {
        engine_->enroll_timer();
        enrolled_ = true;
        engine_->watch(*this);
        under_way_ = this;
        look(now);
    });
}

void watching::cancel() noexcept {
    if (over()) return;
    conclude({.how = outcome::failed,
              .failed = net::failure{.code = errc::cancelled, .message = "the caller gave up"}});
}

void watching::abort() noexcept {
    if (over()) return;
    conclude({.how = outcome::failed,
              .failed = net::failure{.code = errc::closed, .message = "the client was closed"}});
}

void watching::changed(core::time_point now) noexcept {
    contain([&]() HOLDFAST_LOCKED { look(now); });
}

void watching::reconnected(core::node_index node, core::time_point now) noexcept {
    const auto voter = voters_.voter_at(node);
    if (!voter) return;
    const auto& first = answers_[voter->value * request_.what->questions()];
    if (missing_ == 0 || std::holds_alternative<net::failure>(first)) changed(now);
}

// Later: the node is not done with it. Patience begins then, and not when the next look is due.
void watching::disconnected(core::node_index node, core::time_point now) noexcept {
    if (missing_ == 0 && voters_.voter_at(node)) look_in(pace::first_delay, now);
}

void watching::due(core::time_point now) noexcept {
    if (now < request_.give_up_at) return changed(now);
    if (heard_) return conclude({.how = outcome::not_satisfied});
    auto why = silent_ ? net::copy_of(*silent_) : net::no_answer("no answer in time");
    conclude({.how = outcome::failed, .failed = std::move(why)});
}

// The questions to one voter go out together, and the one that the server is to tell of first:
// what changes after it was read is told.
void watching::look(core::time_point now) {
    if (over()) return;
    again_ = true;
    if (missing_ > 0) return;
    again_ = false;
    missing_ = answers_.size();
    std::fill(answers_.begin(), answers_.end(), query::answer());
    look_in(core::never - now, now);
    const auto each = request_.what->questions();
    for (std::size_t n = 0; n < answers_.size(); ++n) {
        const core::node_index voter{static_cast<std::uint8_t>(n / each)};
        engine_->send(voters_.node_of(voter), this, n, now);
    }
    engine_->submit();
}

void watching::encode(tag asked, bool by_text, std::string& out) {
    request_.what->ask(asked % request_.what->questions(), by_text, out);
}

bool watching::asks_for_notification(tag asked) const {
    const bool first = asked % request_.what->questions() == 0;
    return first && request_.waits && !request_.what->writes();
}

void watching::answered(tag asked, std::string_view reply) {
    auto& node = engine_->voter(
        voters_.node_of({static_cast<std::uint8_t>(asked / request_.what->questions())}));
    std::string said(reply);
    if (!request_.what->writes() || !node.acknowledges()) return settle(asked, std::move(said));
    answers_[asked] = std::move(said);
    node.acknowledge(this, asked);
}

void watching::acknowledged(tag asked) noexcept { settle(asked, std::move(answers_[asked])); }

void watching::failed(tag asked, const net::failure& why) noexcept {
    settle(asked, net::copy_of(why));
}

void watching::settle(tag asked, query::answer what) noexcept {
    answers_[asked] = std::move(what);
    if (--missing_ > 0 || over()) return;
    contain([&]() HOLDFAST_LOCKED { judge(engine_->now()); });
}

void watching::judge(core::time_point now) {
    auto found = request_.what->judge(*engine_, voters_, answers_);
    if (found.failed) return not_answered(std::move(*found.failed), now);
    silent_.reset();
    pause_.reset();
    heard_ = true;
    if (found.satisfied) return conclude({.how = outcome::satisfied});
    if (!request_.waits) return conclude({.how = outcome::not_satisfied});
    wait(found, now);
}

void watching::not_answered(net::failure why, core::time_point now) {
    if (!silent_) silent_since_ = now;
    const bool patient =
        request_.waits && !why.hopeless && now - silent_since_ < engine_->settings().patience;
    if (!patient && !why.emptied) {
        return conclude({.how = outcome::failed, .failed = std::move(why)});
    }
    silent_ = std::move(why);
    look_in(pause_.next(engine_->chance()), now);
}

void watching::wait(const watched::finding& found, core::time_point now) {
    if (again_) return look(now);
    const auto net =
        told_of_changes() ? core::duration(pace::longest_sleep) : polling_.next(engine_->chance());
    const auto expected = found.changes_in.value_or(net) + pace::expiry_slack +
                          core::fraction_of(pace::expiry_jitter, engine_->chance());
    look_in(std::min(net, expected), now);
}

void watching::look_in(core::duration pause, core::time_point now) noexcept {
    const auto at = pause >= core::never - now ? core::never : now + pause;
    engine_->set(*this, std::min(at, request_.give_up_at));
}

bool watching::told_of_changes() const {
    std::size_t tells = 0;
    for (const auto each : voters_.voters()) {
        if (engine_->voter(voters_.node_of(each)).tracking()) ++tells;
    }
    return voters_.carries(tells);
}

void watching::conclude(result what) noexcept {
    const auto alive = std::exchange(under_way_, nullptr);
    result_ = std::move(what);
    engine_->cancel(*this);
    if (std::exchange(enrolled_, false)) engine_->withdraw_timer();
    engine_->unwatch(*this);
    if (done_) std::exchange(done_, nullptr)(*this);
}

}  // namespace holdfast::runtime
