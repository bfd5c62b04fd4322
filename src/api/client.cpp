#include "holdfast/client.hpp"

#include <utility>

#include "api/access.hpp"
#include "platform/environment.hpp"
#include "runtime/operations/failures.hpp"
#include "runtime/operations/tally.hpp"

namespace holdfast {
namespace detail {

shared_client::shared_client(options settings)
    : engine_(
          std::make_shared<runtime::engine>(platform::make_environment(), std::move(settings))) {}

// In a forked child the threads of the parent are gone, and with them whoever held which lock.
// The engine is left alone there, but for its sockets.
shared_client::~shared_client() {
    if (!engine_->in_child()) return;
    engine_->abandon();
    new runtime::engine_pointer(std::move(engine_));  // NOLINT: on purpose, never destroyed
}

void shared_client::check_process() const {
    if (!engine_->in_child()) return;
    throw std::system_error(errc::forked, "make a client of its own in the child process");
}

}  // namespace detail

options client::with_urls(std::vector<std::string> urls) {
    options settings;
    settings.urls = std::move(urls);
    return settings;
}

client::client(options settings)
    : shared_(std::make_shared<detail::shared_client>(std::move(settings))) {}

client::client(client&&) noexcept = default;

client& client::operator=(client&& other) noexcept {
    client last(std::move(*this));
    shared_ = std::move(other.shared_);
    return *this;
}

client::~client() {
    if (shared_ && !shared_->engine()->in_child()) shared_->engine()->close();
}

namespace {

// `shared` is a copy of the client's own: another thread may destroy the client meanwhile.
acquisition acquire_by(const std::shared_ptr<detail::shared_client>& shared, detail::wish what,
                       std::string_view key, const acquire_options& how, std::stop_token stop) {
    shared->check_process();
    what.what = runtime::make_plan(shared->engine()->settings(), key, how);
    return detail::acquire(*shared, what, std::move(stop));
}

}  // namespace

namespace {

// No majority does: each has keys that no other has.
void connect_to_masters(runtime::engine& engine, base::client_lock& lock) HOLDFAST_LOCKED {
    for (const auto each : engine.servers(lock)) {
        const auto answer = runtime::query::run_on(engine, lock, each, {"PING"});
        const auto* const why = std::get_if<net::failure>(&answer);
        if (why != nullptr) runtime::raise(engine.named(each, *why));
    }
}

}  // namespace

lease client::acquire(std::string_view key, const acquire_options& how, std::stop_token stop) {
    return std::move(
        *acquire_by(std::shared_ptr(detail::access::shared(*this)), {}, key, how, std::move(stop)));
}

acquisition client::try_acquire(std::string_view key, const acquire_options& how) {
    return acquire_by(std::shared_ptr(detail::access::shared(*this)), {.what = {}, .waits = false},
                      key, how, {});
}

acquisition client::acquire_until(std::string_view key, clock::time_point when,
                                  const acquire_options& how, std::stop_token stop) {
    return acquire_by(std::shared_ptr(detail::access::shared(*this)),
                      {.what = {}, .give_up_at = when}, key, how, std::move(stop));
}

void client::connect() {
    const auto shared = detail::access::shared(*this);
    shared->check_process();
    auto& engine = *shared->engine();
    auto lock = engine.lock();
    if (engine.cluster() != nullptr) return connect_to_masters(engine, lock);
    const auto all = engine.voters_of({});
    const auto answers = runtime::query::run(engine, all, lock, {"PING"});
    // An error is an answer, too: it is reached.
    const runtime::tally reached(all, answers, [](resp::view) { return runtime::ballot::yes; });
    if (!reached.carried()) runtime::raise(reached.why_silent(engine));
}

void client::connect(std::error_code& error) {
    detail::catching(error, [this] { connect(); });
}

statistics client::statistics() const {
    const auto shared = detail::access::shared(*this);
    shared->check_process();
    const auto lock = shared->engine()->lock();
    return shared->engine()->counters();
}

const options& client::settings() const noexcept {
    static const options defaults;
    return shared_ ? shared_->engine()->settings() : defaults;
}

}  // namespace holdfast
