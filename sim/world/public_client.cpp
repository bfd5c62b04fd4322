// What src/api/client.cpp is to programs: there is no platform under the simulated client, and no
// other process that it could be forked into.

#include "sim/world/public_client.hpp"

#include <utility>

#include "api/access.hpp"

namespace holdfast {
namespace {

thread_local runtime::engine_pointer lent;

}  // namespace

namespace detail {

// As src/api/access.hpp declares it.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
shared_client::shared_client(options) : engine_(std::exchange(lent, nullptr)) {}
shared_client::~shared_client() = default;
void shared_client::check_process() const {}

}  // namespace detail

client::client(options settings)
    : shared_(std::make_shared<detail::shared_client>(std::move(settings))) {}
client::client(client&&) noexcept = default;
client::~client() = default;

const options& client::settings() const noexcept { return shared_->engine()->settings(); }

namespace sim {

::holdfast::client public_client_of(const runtime::engine_pointer& engine) {
    lent = engine;
    return ::holdfast::client(options{});
}

}  // namespace sim
}  // namespace holdfast
