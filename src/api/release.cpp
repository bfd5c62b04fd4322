#include "api/release.hpp"

#include <system_error>

#include "holdfast/duration.hpp"
#include "holdfast/error.hpp"
#include "runtime/operations/failures.hpp"

namespace holdfast::detail {
namespace {

[[noreturn]] void raise_lost(const runtime::hold& which) {
    const bool foreseen = which.announced() && !which.lost(which.through().now());
    throw std::system_error(errc::lost, "lock '" + which.what().name() + "'" +
                                            (foreseen ? ", as announced by its stop_token" : ""));
}

// Throws std::bad_alloc before anything was begun, where this thread has never waited before.
release_result release_and_wait(runtime::hold& which) {
    auto& engine = which.through();
    auto lock = engine.lock();
    struct {
        runtime::driver& driving;
        runtime::waiter caller{driving};
        boost::intrusive_ptr<const runtime::releasing>
            last{};  // memory goes back where it came from
    } here{engine.driving()};
    // One reference: more would not fit into the function without an allocation.
    const auto how = which.release([&here](const runtime::releasing& done) HOLDFAST_LOCKED {
        here.last = &done;
        here.driving.finished(here.caller);
    });
    if (how != runtime::release_path::sent) return to_public(how);
    here.driving.wait(lock, here.caller);
    return to_public(here.last->outcome());
}

runtime::release_path release_unawaited(runtime::hold& which) noexcept {
    auto& engine = which.through();
    const auto lock = engine.lock();
    const auto how = which.release({});
    if (how == runtime::release_path::sent) engine.driving().attend_by(engine.overdue_at());
    return how;
}

}  // namespace

release_result release(runtime::hold& which) noexcept {
    if (which.through().in_child()) return release_result::unknown;
    try {
        return release_and_wait(which);
    } catch (const std::bad_alloc&) {
        const auto how = release_unawaited(which);
        return how == runtime::release_path::sent ? release_result::unknown : to_public(how);
    }
}

void let_go(runtime::hold& which) noexcept {
    auto& engine = which.through();
    if (engine.in_child()) return;
    if (which.what().await_release &&
        !which.lost(which.through().now())) {  // lost: nothing to wait for
        release(which);
        return;
    }
    release_unawaited(which);
}

void detach(runtime::hold& which) noexcept {
    auto& engine = which.through();
    if (engine.in_child()) return;
    const auto lock = engine.lock();
    which.detach();
}

release_result to_public(runtime::release_path how) {
    if (how == runtime::release_path::owed) return release_result::unknown;
    return how == runtime::release_path::handed_off ? release_result::released
                                                    : release_result::already_lost;
}

release_result to_public(core::release::verdict outcome) {
    switch (outcome) {
        case core::release::verdict::released: return release_result::released;
        case core::release::verdict::already_lost: return release_result::already_lost;
        case core::release::verdict::unknown:
        case core::release::verdict::none: break;
    }
    return release_result::unknown;
}

void check_process(const runtime::engine& through) {
    if (!through.in_child()) return;
    throw std::system_error(errc::forked, "make a client of its own in the child process");
}

void check_usable(runtime::engine& through) {
    check_process(through);
    const auto lock = through.lock();
    if (through.closed()) throw std::system_error(errc::closed);
}

void check_extension(runtime::hold& which, std::chrono::milliseconds ttl) {
    check_usable(which.through());
    const auto longest = which.through().settings().max_ttl;
    if (ttl < min_ttl || ttl > longest || which.what().timing.guard_time >= ttl / 2) {
        throw std::system_error(errc::invalid_option,
                                "the ttl must lie between " + format_duration(min_ttl) +
                                    " and max_ttl, " + format_duration(longest) +
                                    ", and above twice the guard_time");
    }
    if (which.announced()) raise_lost(which);
}

void check_not_ended(const runtime::hold& which) {
    if (!which.ended()) return;
    throw std::system_error(errc::not_held, "lock '" + which.what().name() + "' was " +
                                                (which.released() ? "released" : "detached"));
}

void check_renewed(const runtime::hold& which, const runtime::renewal& attempt) {
    const auto how = attempt.machine().current();
    const bool gone = how == core::renew::state::lost || which.lost(which.through().now());
    if (gone || which.announced()) raise_lost(which);
    if (how == core::renew::state::extended) return;
    runtime::raise(attempt.last_failure());
}

}  // namespace holdfast::detail
