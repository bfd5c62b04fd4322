#include "holdfast/shared_mutex.hpp"

#include <utility>

#include "api/access.hpp"
#include "api/held_leases.hpp"
#include "api/release.hpp"
#include "kinds/exclusive.hpp"
#include "kinds/shared.hpp"

namespace holdfast {
namespace {

void require_writer(const runtime::hold& which, const detail::lockable& of) {
    const auto& what = which.what();
    const bool ours = &which.through() == detail::access::shared(of)->engine().get();
    if (what.kind == &kinds::exclusive() && ours && what.name() == of.key()) return;
    throw std::system_error(errc::invalid_option, "only a lease that writes under the lock '" +
                                                      of.key() + "' can go on reading under it");
}

std::shared_ptr<runtime::hold> become_reader(runtime::hold& writer) HOLDFAST_UNLOCKED {
    detail::check_extension(writer,
                            std::chrono::ceil<std::chrono::milliseconds>(writer.what().timing.ttl));
    auto& engine = writer.through();
    runtime::waiter caller(engine.driving());
    auto lock = engine.lock();
    detail::check_not_ended(writer);
    auto reader = writer.become_reader([&](const runtime::renewal&)
                                           HOLDFAST_LOCKED { engine.driving().finished(caller); },
                                       engine.now());
    engine.submit();
    engine.driving().wait(lock, caller);
    return reader;
}

}  // namespace

shared_mutex::reading::reading(client& through, std::string key, acquire_options how)
    : lockable(through, std::move(key), how, kinds::shared()) {}

shared_mutex::reading::~reading() = default;

shared_mutex::shared_mutex(client& through, std::string key, acquire_options how)
    : lockable(through, key, how, kinds::exclusive()), reading_(through, std::move(key), how) {}

shared_mutex::~shared_mutex() = default;

lease shared_mutex::downgrade(lease held) {
    auto& writer = *detail::access::hold_of(held);
    require_writer(writer, *this);
    if (writer.lost(writer.through().now())) held.ensure_held();
    auto reads = detail::access::make_lease(become_reader(writer));
    reads.ensure_held();
    return reads;
}

void shared_mutex::downgrade() {
    if (detail::access::shared(*this)->engine()->in_child()) {
        throw std::system_error(errc::forked);
    }
    auto held = detail::access::held(*this).take();
    if (!held) throw std::system_error(errc::not_held, "lock '" + key() + "'");
    detail::access::held(reading_).put(downgrade(std::move(*held)));
}

}  // namespace holdfast
