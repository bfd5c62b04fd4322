#pragma once

#include <memory>
#include <system_error>
#include <utility>

#include "holdfast/client.hpp"
#include "holdfast/detail/lockable.hpp"
#include "holdfast/election.hpp"
#include "holdfast/error.hpp"
#include "holdfast/latch.hpp"
#include "holdfast/lease.hpp"
#include "runtime/engine.hpp"
#include "runtime/operations/acquiring.hpp"
#include "runtime/operations/hold.hpp"

/// The glue between the public classes and the runtime: it only translates.
namespace holdfast::detail {

/// What a client shares with its mutexes and leases.
class shared_client {
  public:
    explicit shared_client(options settings);
    ~shared_client();
    shared_client(const shared_client&) = delete;
    shared_client& operator=(const shared_client&) = delete;

    [[nodiscard]] const runtime::engine_pointer& engine() const { return engine_; }

    /// Throws errc::forked in a child.
    void check_process() const;

  private:
    runtime::engine_pointer engine_;
};

/// Lets the glue reach into the public classes, and nobody else.
struct access {
    static acquisition make(runtime::acquiring::result result);
    static const std::shared_ptr<runtime::hold>& hold_of(const lease& which) { return which.hold_; }
    /// Throws errc::closed where it was moved from.
    static const std::shared_ptr<shared_client>& shared(const client& which) {
        if (!which.shared_) throw std::system_error(errc::closed, "it was moved from");
        return which.shared_;
    }
    static const std::shared_ptr<shared_client>& shared(const lockable& which) {
        return which.shared_;
    }
    static const held_leases& held(const lockable& which) { return *which.held_; }
    static held_leases& held(lockable& which) { return *which.held_; }
    static const std::shared_ptr<observation>& observation_of(const election_observer& which) {
        return which.observation_;
    }
    static const std::shared_ptr<const latch_state>& state_of(const latch& which) {
        return which.state_;
    }
    static lease make_lease(std::shared_ptr<runtime::hold> of) { return lease(std::move(of)); }
};

/// The engine of a client that may be used here. Throws errc::forked in a child, errc::closed where
/// it was moved from.
inline runtime::engine& engine_of(const client& through) {
    const auto& shared = access::shared(through);
    shared->check_process();
    return *shared->engine();
}

/// The plan for `how`: the lock's own where these are its own options. Throws what is wrong with
/// them.
runtime::plan_pointer plan_for(const lockable& which, const acquire_options& how);

struct wish {
    runtime::plan_pointer what;
    bool waits = true;
    clock::time_point give_up_at = clock::time_point::max();
};

/// The wish as it stands at `now`: without time to wait there is one attempt.
runtime::acquiring::request request_for(const wish& what, clock::time_point now);

/// Blocks until it is decided. Throws what went wrong.
acquisition acquire(const shared_client& through, const wish& what,
                    std::stop_token stop) HOLDFAST_UNLOCKED;

/// Runs `work`, and turns the std::system_error that it throws into `error`.
template <typename Work>
auto catching(std::error_code& error, Work&& work) -> decltype(work()) {
    using result = decltype(work());
    error.clear();
    try {
        return work();
    } catch (const std::system_error& thrown) {
        error = thrown.code();
    } catch (const std::bad_alloc&) {
        error = std::make_error_code(std::errc::not_enough_memory);
    }
    if constexpr (!std::is_void_v<result>) return result{};
}

}  // namespace holdfast::detail
