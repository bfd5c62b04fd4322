#include "holdfast/detail/lockable.hpp"

#include <utility>

#include "api/access.hpp"
#include "api/held_leases.hpp"
#include "kinds/several.hpp"

namespace holdfast::detail {
namespace {

constexpr auto never = clock::time_point::max();

// A default ttl above max_ttl is the error of whoever uses it. Null then; only what concerns every
// acquire of this mutex is checked.
template <typename Make>
runtime::plan_pointer usual_plan(const options& client, const acquire_options& how, Make&& make) {
    const bool by_default = how.ttl == acquire_options{}.ttl;
    if (!by_default || how.ttl <= client.max_ttl) return make(how);
    (void)make(acquire_options{.ttl = client.max_ttl, .label = how.label});
    return nullptr;
}

std::unique_ptr<held_leases> leases_of(const options& client, std::string_view key,
                                       const acquire_options& how, const kinds::kind& which,
                                       std::shared_ptr<runtime::candidacy> candidate,
                                       std::uint32_t permits) {
    auto plan = usual_plan(client, how, [&](const auto& checked) {
        return runtime::make_plan(client, key, checked, which, candidate, permits);
    });
    return std::make_unique<held_leases>(which, std::move(plan), std::move(candidate), permits);
}

std::unique_ptr<held_leases> leases_of(const options& client, std::vector<std::string> keys,
                                       const acquire_options& how) {
    auto plan = usual_plan(client, how, [&](const auto& checked) {
        return runtime::make_plan(client, keys, checked);
    });
    return std::make_unique<held_leases>(kinds::several(), std::move(plan), nullptr, 0,
                                         std::move(keys));
}

}  // namespace

lockable::lockable(client& through, std::string key, acquire_options how, const kinds::kind& which,
                   std::shared_ptr<runtime::candidacy> candidate, std::uint32_t permits)
    : shared_(access::shared(through)),
      key_(std::move(key)),
      how_(how),
      held_(leases_of(through.settings(), key_, how_, which, std::move(candidate), permits)) {}

lockable::lockable(client& through, std::vector<std::string> keys, acquire_options how)
    : shared_(access::shared(through)),
      how_(how),
      held_(leases_of(through.settings(), runtime::list_of(std::move(keys)), how_)) {
    key_ = runtime::name_of(held_->keys());
}

lockable::~lockable() = default;

const std::string& lockable::key() const noexcept { return key_; }
const acquire_options& lockable::how() const noexcept { return how_; }

void lockable::lock() { held_->put(acquire()); }

void lockable::lock(std::error_code& error) {
    catching(error, [this] { lock(); });
}

bool lockable::try_lock() {
    auto won = try_acquire(how_);
    if (won) held_->put(std::move(*won));
    return won.has_value();
}

bool lockable::try_lock(std::error_code& error) {
    return catching(error, [this] { return try_lock(); });
}

bool lockable::lock_until(clock::time_point when) {
    auto won = acquire_until(when, how_, {});
    if (won) held_->put(std::move(*won));
    return won.has_value();
}

bool lockable::lock_until(clock::time_point when, std::error_code& error) {
    return catching(error, [&] { return lock_until(when); });
}

void lockable::unlock() noexcept {
    std::error_code error;
    unlock(error);
    if (!error) return;
    auto& engine = *shared_->engine();
    if (engine.in_child()) return;
    const auto lock = engine.lock();
    engine.log(log_level::error, "unlock_not_held",
               "unlock() by a thread that does not hold the mutex; nothing was done", key_);
}

// In a child nothing is touched: whoever held the guard of the leases may not exist there.
void lockable::unlock(std::error_code& error) noexcept {
    if (shared_->engine()->in_child()) {
        error = make_error_code(errc::forked);
        return;
    }
    const auto mine = held_->take();  // released here
    error = mine ? std::error_code{} : make_error_code(errc::not_held);
}

// Nor here: the leases of a child's parent are not its own.
const lease* lockable::current() const noexcept {
    return shared_->engine()->in_child() ? nullptr : held_->current();
}

lease lockable::acquire() { return acquire(how_); }

lease lockable::acquire(const acquire_options& how, std::stop_token stop) {
    return std::move(*acquire_until(never, how, std::move(stop)));
}

acquisition lockable::acquire(const acquire_options& how, std::stop_token stop,
                              std::error_code& error) {
    return acquire_until(never, how, std::move(stop), error);
}

acquisition lockable::try_acquire() { return try_acquire(how_); }

acquisition lockable::try_acquire(const acquire_options& how) {
    return detail::acquire(*shared_, {.what = plan_for(*this, how), .waits = false}, {});
}

acquisition lockable::try_acquire(const acquire_options& how, std::error_code& error) {
    return catching(error, [&] { return try_acquire(how); });
}

acquisition lockable::acquire_until(clock::time_point when, const acquire_options& how,
                                    std::stop_token stop) {
    return detail::acquire(*shared_, {.what = plan_for(*this, how), .give_up_at = when},
                           std::move(stop));
}

acquisition lockable::acquire_until(clock::time_point when, const acquire_options& how,
                                    std::stop_token stop, std::error_code& error) {
    return catching(error, [&] { return acquire_until(when, how, std::move(stop)); });
}

}  // namespace holdfast::detail
