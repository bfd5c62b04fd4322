#include <optional>
#include <stop_token>

#include "api/access.hpp"
#include "api/held_leases.hpp"
#include "runtime/operations/failures.hpp"

namespace holdfast::detail {
namespace {

holder describe(const runtime::attempt::denial& other) {
    auto result = parse_owner(other.owner);
    result.quarantine = other.quarantine;
    if (other.remaining >= clock::duration{0}) {
        result.remaining = std::chrono::ceil<std::chrono::milliseconds>(other.remaining);
    }
    return result;
}

}  // namespace

acquisition access::make(runtime::acquiring::result result) {
    acquisition made;
    if (result.won) made.emplace(lease(std::move(result.won)));
    if (result.denied && (!result.denied->owner.empty() || result.denied->quarantine)) {
        made.held_by_ = describe(*result.denied);
    }
    return made;
}

runtime::plan_pointer plan_for(const lockable& which, const acquire_options& how) {
    const auto& own = access::held(which).plan();
    if (own && &how == &which.how()) return own;
    const auto& settings = access::shared(which)->engine()->settings();
    const auto& held = access::held(which);
    if (!held.keys().empty()) return runtime::make_plan(settings, held.keys(), how);
    return runtime::make_plan(settings, which.key(), how, held.kind(), held.candidate(),
                              held.permits());
}

namespace {

// The stop callback takes the engine's lock, and its destructor waits for it to end: so it is made
// and destroyed without the lock.
void wait_for(runtime::acquiring& operation, runtime::engine& engine, runtime::waiter& caller,
              base::client_lock& lock, std::stop_token stop) HOLDFAST_LOCKED {
    if (!stop.stop_possible()) return engine.driving().wait(lock, caller);
    lock.unlock();
    {
        const std::stop_callback give_up(std::move(stop), [&] {
            const auto held = engine.lock();
            operation.cancel(engine.now());
            engine.submit();
        });
        lock.lock();
        engine.driving().wait(lock, caller);
        lock.unlock();
    }
    lock.lock();
}

}  // namespace

runtime::acquiring::request request_for(const wish& what, clock::time_point now) {
    const bool waits = what.waits && what.give_up_at > now;
    return {.what = what.what,
            .waits = waits,
            .give_up_at = waits ? what.give_up_at : clock::time_point::max()};
}

acquisition acquire(const shared_client& through, const wish& what, std::stop_token stop) {
    through.check_process();
    auto& engine = *through.engine();
    runtime::waiter caller(engine.driving());
    runtime::acquiring::result result;
    {
        boost::intrusive_ptr<runtime::acquiring> operation;
        auto lock = engine.lock();
        engine.driving().require_background();  // without it no lease could be kept
        const auto now = engine.now();
        operation = new runtime::acquiring(
            through.engine(), request_for(what, now),
            [&](runtime::acquiring&) HOLDFAST_LOCKED { engine.driving().finished(caller); });
        engine.driving().will_wait();
        operation->start(now);
        engine.submit();
        caller.in_line = operation->stands_in_line();
        wait_for(*operation, engine, caller, lock, std::move(stop));
        result = operation->take_result();
        lock.unlock();
    }
    if (result.thrown) std::rethrow_exception(result.thrown);
    if (result.failed) runtime::raise(*result.failed);
    return access::make(std::move(result));
}

}  // namespace holdfast::detail
