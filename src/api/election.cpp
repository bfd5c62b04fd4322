#include "holdfast/election.hpp"

#include <utility>

#include "api/access.hpp"
#include "api/held_leases.hpp"
#include "api/leader_look.hpp"
#include "api/release.hpp"
#include "api/watch.hpp"
#include "kinds/election.hpp"
#include "runtime/operations/failures.hpp"

namespace holdfast {
namespace {

static_assert(max_leader_value_bytes == kinds::most_value_bytes);

std::shared_ptr<runtime::candidacy> candidate_with(std::string value) {
    if (value.size() > max_leader_value_bytes) {
        runtime::refuse(errc::invalid_option,
                        "a candidate's value of " + std::to_string(value.size()) +
                            " bytes is longer than " + std::to_string(max_leader_value_bytes));
    }
    return std::make_shared<runtime::candidacy>(std::move(value));
}

}  // namespace

election::election(client& through, std::string name, std::string value, acquire_options how)
    : election(through, std::move(name), how, candidate_with(std::move(value))) {}

election::election(client& through, std::string name, acquire_options how,
                   std::shared_ptr<runtime::candidacy> candidate)
    : lockable(through, std::move(name), how, kinds::election(), candidate),
      candidate_(std::move(candidate)) {}

election::~election() = default;

const std::string& election::value() const noexcept { return candidate_->value; }

std::shared_ptr<runtime::hold> election::last_lease() const noexcept {
    auto& engine = *detail::access::shared(*this)->engine();
    if (engine.in_child()) return nullptr;
    const auto lock = engine.lock();
    return candidate_->lease.lock();
}

bool election::is_leader() const noexcept { return term() != 0; }

std::uint64_t election::term() const noexcept {
    const auto last = last_lease();
    return last && !last->lost(last->through().now()) ? last->token().value : 0;
}

release_result election::resign() noexcept {
    if (detail::access::shared(*this)->engine()->in_child()) return release_result::unknown;
    const auto last = last_lease();
    return last ? detail::release(*last) : release_result::already_lost;
}

leader election::leader() const {
    const auto& shared = *detail::access::shared(*this);
    const auto look = std::make_shared<detail::leader_look>(
        runtime::make_plan(shared.engine()->settings(), key())->keys.lock, std::nullopt);
    (void)detail::watch(shared, {.what = look, .waits = false}, {});
    return look->found();
}

leader election::leader(std::error_code& error) const {
    return detail::catching(error, [this] { return leader(); });
}

}  // namespace holdfast
