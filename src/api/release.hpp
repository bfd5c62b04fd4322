#pragma once

#include <chrono>

#include "holdfast/lease.hpp"
#include "runtime/operations/hold.hpp"
#include "runtime/operations/releasing.hpp"
#include "runtime/operations/renewal.hpp"

/// How leases end and are extended: shared by lease, mutex and the asynchronous operations.
namespace holdfast::detail {

release_result release(runtime::hold& which) noexcept HOLDFAST_UNLOCKED;  // and waits
void let_go(runtime::hold& which) noexcept HOLDFAST_UNLOCKED;  // waits if its options say so
void detach(runtime::hold& which) noexcept HOLDFAST_UNLOCKED;

release_result to_public(core::release::verdict outcome);
release_result to_public(runtime::release_path how);  // REQUIRES: not sent

/// Throws errc::forked.
void check_process(const runtime::engine& through);

/// Throws errc::forked or errc::closed.
void check_usable(runtime::engine& through) HOLDFAST_UNLOCKED;

/// Throws errc::invalid_option, or what check_usable throws.
void check_extension(runtime::hold& which, std::chrono::milliseconds ttl) HOLDFAST_UNLOCKED;

/// Throws errc::not_held: what the servers have may be another holder's by now.
void check_not_ended(const runtime::hold& which) HOLDFAST_LOCKED;

/// Throws errc::lost, or what kept the renewal from being confirmed.
void check_renewed(const runtime::hold& which, const runtime::renewal& attempt) HOLDFAST_LOCKED;

}  // namespace holdfast::detail
