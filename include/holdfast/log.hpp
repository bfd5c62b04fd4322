#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "holdfast/detail/language.hpp"

namespace holdfast {

enum class log_level : std::uint8_t { debug, info, warning, error };

/// One thing that happened. The views are valid during the callback only. Never contains a
/// password, or an owner token by which a lock could be released.
///
///   info      connected
///   warning   disconnected, quarantined, lease_ending, release_refused, forced_release,
///             not_called
///   error     lease_lost, clock_jumped, unlock_not_held
struct log_record {
    log_level level = log_level::info;
    std::string_view event{};    // as above; stable, for filters
    std::string_view message{};  // for people
    std::string_view key{};      // the lock, if it is about one, as lease::key()
    std::string_view node{};     // the server, if it is about one
};

/// Called from any thread that drives the client or calls it, with the client's internal lock held:
/// one call at a time for each client. Everything else of the client waits for it. REQUIRES: it
/// does not call the client, its mutexes or its leases, which would deadlock. What it throws is
/// ignored.
using log_callback = std::function<void(const log_record&)>;

}  // namespace holdfast
