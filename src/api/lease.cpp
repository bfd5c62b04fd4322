#include "holdfast/lease.hpp"

#include <algorithm>
#include <utility>

#include "api/access.hpp"
#include "api/release.hpp"
#include "runtime/operations/failures.hpp"
#include "runtime/operations/renewal.hpp"
#include "runtime/operations/tally.hpp"

namespace holdfast {

lease::lease(std::shared_ptr<runtime::hold> hold) noexcept : hold_(std::move(hold)) {}

lease& lease::operator=(lease&& other) noexcept {
    lease last(std::move(*this));
    hold_ = std::move(other.hold_);
    return *this;
}

lease::~lease() {
    if (hold_) detail::let_go(*hold_);
}

std::uint64_t lease::token() const noexcept { return hold_->token().value; }
std::uint32_t lease::slot() const noexcept { return hold_->slot(); }
const std::string& lease::owner() const noexcept { return hold_->show_owner(); }
const std::string& lease::key() const noexcept { return hold_->what().name(); }
clock::time_point lease::valid_until() const noexcept { return hold_->valid_until(); }

clock::duration lease::remaining() const noexcept {
    const auto now = hold_->through().now();
    return hold_->lost(now) ? clock::duration{0} : hold_->valid_until() - now;
}

bool lease::lost() const noexcept { return hold_->lost(hold_->through().now()); }

std::stop_token lease::stop_token() const { return hold_->stop_token(); }

void lease::ensure_held() const {
    detail::check_process(hold_->through());
    if (!lost()) return;
    const auto lock = hold_->through().lock();
    if (hold_->released()) detail::check_not_ended(*hold_);
    throw std::system_error(errc::lost, "lock '" + key() + "'");
}

void lease::ensure_held(std::error_code& error) const noexcept {
    error.clear();
    if (!lost()) return;
    error = errc::forked;
    if (hold_->through().in_child()) return;
    const auto lock = hold_->through().lock();
    error = hold_->released() ? errc::not_held : errc::lost;
}

void lease::extend(std::chrono::milliseconds ttl) {
    auto& hold = *hold_;
    detail::check_extension(hold, ttl);
    auto& engine = hold.through();
    runtime::waiter caller(engine.driving());
    auto lock = engine.lock();
    detail::check_not_ended(hold);
    const auto attempt = runtime::renewal::start(
        hold_, ttl, engine.now(),
        [&](const runtime::renewal&) HOLDFAST_LOCKED { engine.driving().finished(caller); });
    engine.submit();
    engine.driving().wait(lock, caller);
    detail::check_renewed(hold, *attempt);
}

bool lease::extend(std::chrono::milliseconds ttl, std::error_code& error) {
    detail::catching(error, [&] { extend(ttl); });
    return !error;
}

bool lease::verify() const {
    auto& engine = hold_->through();
    detail::check_usable(engine);
    auto lock = engine.lock();
    if (hold_->released()) return false;  // what the servers have may be the next holder's
    const auto owner = hold_->owner();
    const auto& kind = *hold_->what().kind;
    const auto claim = hold_->what().claim_by(owner);
    const auto voters = engine.voters_of(claim.of.lock);
    const auto answers = runtime::query::run(
        engine, voters, lock,
        [&](std::string& out, bool by_text) { kind.verify(out, by_text, claim); });
    const runtime::tally said(voters, answers, [&](resp::view reply) {
        return runtime::opinion_of(kind.read_verify(reply, claim));
    });
    if (said.carried()) return !hold_->lost(engine.now());
    if (!said.refused()) runtime::raise(said.why(engine));
    hold_->found_gone(engine.now());
    engine.submit();
    return false;
}

bool lease::verify(std::error_code& error) const {
    return detail::catching(error, [this] { return verify(); });
}

release_result lease::release() noexcept { return detail::release(*hold_); }

void lease::detach() noexcept { detail::detach(*hold_); }

}  // namespace holdfast
