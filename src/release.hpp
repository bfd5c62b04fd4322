#pragma once

#include <chrono>

#include "holdfast/lease.hpp"
#include "runtime/hold.hpp"
#include "runtime/releasing.hpp"
#include "runtime/renewal.hpp"

/// How leases end and are extended: shared by lease, mutex and the asynchronous operations.
namespace holdfast::detail {

/// Ends the lease and sends the release; `done` (may be empty) is told the outcome. Returns false,
/// and does nothing, if it had ended before. REQUIRES: the lock held.
bool begin_release(runtime::hold& which, runtime::releasing::listener done);

release_result release(runtime::hold& which) noexcept;  // and waits
void let_go(runtime::hold& which) noexcept;             // waits if its options say so
void detach(runtime::hold& which) noexcept;

release_result to_public(core::release::verdict outcome);

/// Throws errc::forked.
void check_process(const runtime::engine& through);

/// Throws errc::forked or errc::closed.
void check_usable(runtime::engine& through);

/// Throws errc::invalid_option, or what check_usable throws.
void check_extension(runtime::hold& which, std::chrono::milliseconds ttl);

/// Throws errc::lost, or what kept the renewal from being confirmed.
void check_renewed(const runtime::hold& which, const runtime::renewal& attempt);

}  // namespace holdfast::detail
