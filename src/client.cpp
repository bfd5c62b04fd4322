#include "holdfast/client.hpp"

#include <utility>

#include "access.hpp"
#include "runtime/failures.hpp"
#include "runtime/query.hpp"

namespace holdfast {
namespace detail {

shared_client::shared_client(options settings)
    : engine_(std::make_shared<runtime::engine>(std::move(settings))) {}

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

namespace {

options with_urls(std::vector<std::string> urls) {
    options settings;
    settings.urls = std::move(urls);
    return settings;
}

}  // namespace

client::client(std::string_view url) : client(with_urls({std::string(url)})) {}

client::client(std::vector<std::string> urls) : client(with_urls(std::move(urls))) {}

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

lease client::acquire(std::string_view key, const acquire_options& how, std::stop_token stop) {
    const auto shared = shared_;  // another thread may destroy the client meanwhile
    shared->check_process();
    const auto plan = runtime::make_plan(settings(), key, how);
    return *detail::acquire(*shared, {.what = plan}, std::move(stop));
}

void client::connect() {
    const auto shared = shared_;
    shared->check_process();
    auto& engine = *shared->engine();
    auto lock = engine.lock();
    const auto answers = runtime::query::run(engine, lock, {"PING"});
    std::vector<std::optional<net::failure>> failures;
    std::size_t well = 0;
    for (const auto& answer : answers) {
        const auto* why = std::get_if<net::failure>(&answer);
        failures.push_back(why != nullptr ? std::optional(*why) : std::nullopt);
        well += why == nullptr ? 1 : 0;
    }
    if (well >= core::majority(answers.size())) return;
    runtime::raise(runtime::summarize_failures(engine, failures, 0, 0));
}

void client::connect(std::error_code& error) {
    detail::catching(error, [this] { connect(); });
}

statistics client::statistics() const {
    shared_->check_process();
    const auto lock = shared_->engine()->lock();
    return shared_->engine()->counters();
}

const options& client::settings() const noexcept { return shared_->engine()->settings(); }

}  // namespace holdfast
