#include "holdfast/lease.hpp"

#include <algorithm>
#include <utility>

#include "access.hpp"
#include "net/handshake.hpp"
#include "release.hpp"
#include "resp/view.hpp"
#include "runtime/failures.hpp"
#include "runtime/query.hpp"
#include "runtime/renewal.hpp"

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
const std::string& lease::owner() const noexcept { return hold_->owner(); }
const std::string& lease::key() const noexcept { return hold_->what().keys.lock; }
clock::time_point lease::valid_until() const noexcept { return hold_->valid_until(); }

clock::duration lease::remaining() const noexcept {
    const auto now = clock::now();
    return hold_->lost(now) ? clock::duration{0} : hold_->valid_until() - now;
}

bool lease::lost() const noexcept { return hold_->lost(clock::now()); }

std::stop_token lease::stop_token() const { return hold_->stop_token(); }

void lease::ensure_held() const {
    detail::check_process(hold_->through());
    if (lost()) throw std::system_error(errc::lost, "lock '" + key() + "'");
}

void lease::ensure_held(std::error_code& error) const noexcept {
    const bool forked = hold_->through().in_child();
    error = !lost() ? std::error_code{} : make_error_code(forked ? errc::forked : errc::lost);
}

void lease::extend(std::chrono::milliseconds ttl) {
    auto& hold = *hold_;
    detail::check_extension(hold, ttl);
    auto& engine = hold.through();
    runtime::waiter caller;
    auto lock = engine.lock();
    const auto attempt = runtime::renewal::start(
        hold_, ttl, clock::now(),
        [&](const runtime::renewal&) { engine.driving().finished(caller); });
    engine.submit();
    engine.driving().wait(lock, caller);
    lock.unlock();
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
    const auto answers = runtime::query::run(engine, lock, {"GET", key()});
    std::vector<std::optional<net::failure>> failures(answers.size());
    std::size_t ours = 0;
    std::size_t not_ours = 0;
    for (std::size_t n = 0; n < answers.size(); ++n) {
        if (const auto* why = std::get_if<net::failure>(&answers[n])) {
            failures[n] = *why;
            continue;
        }
        const resp::view reply(std::get<std::string>(answers[n]));
        if (reply.is_error() && net::explain(reply).code != errc::wrong_type) {
            failures[n] = net::explain(reply);
        } else {
            ++(reply.text() == owner() ? ours : not_ours);
        }
    }
    const auto quorum = core::majority(answers.size());
    if (ours >= quorum) return true;
    if (not_ours > answers.size() - quorum) return false;
    runtime::raise(runtime::summarize_failures(engine, failures, ours, not_ours));
}

bool lease::verify(std::error_code& error) const {
    return detail::catching(error, [this] { return verify(); });
}

release_result lease::release() noexcept { return detail::release(*hold_); }

void lease::detach() noexcept { detail::detach(*hold_); }

}  // namespace holdfast
