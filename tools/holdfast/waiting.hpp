#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "holdfast/client.hpp"
#include "holdfast/lease.hpp"
#include "holdfast/options.hpp"
#include "signal_queue.hpp"

namespace holdfast::tool {

/// -n and -w: how long to wait for a lock. Neither: for ever.
struct wait_options {
    bool no_wait = false;
    std::optional<std::chrono::milliseconds> at_most;

    void declare(command_line& line);
};

enum class lock_kind : std::uint8_t { exclusive, shared, permit, election };

/// What to wait for.
struct lock_request {
    std::vector<std::string> keys;  // several: all of them or none, and exclusive
    lock_kind kind = lock_kind::exclusive;
    acquire_options how{};
    std::string value{};        // of a candidate
    std::uint32_t permits = 0;  // how many there are of a semaphore
};

/// What waiting brought. Neither a lease nor a signal: somebody else holds it.
struct wait_result {
    std::optional<lease> held;
    std::optional<holder> held_by;
    int interrupted_by = 0;
    std::chrono::nanoseconds waited{};
};

/// Throws failure with exit code 69 if nobody could have got the lock because the servers are in
/// quarantine, which is not that somebody else has it. REQUIRES: no lease came of it.
void refuse_quarantine(client& through, const std::vector<std::string>& keys,
                       const wait_result& waited);

/// One line about who has the lock instead. REQUIRES: no lease came of it.
void say_who_has_it(const std::vector<std::string>& keys, const wait_result& waited);

/// Waits for the lock in a thread of its own, while this one watches for signals. A signal ends the
/// wait and leaves nothing behind at the servers: a lease that came at the same time is released.
/// With `talk`, one line says who holds the lock once the wait has taken a second; that it
/// waits for the end of a quarantine, or for the run that it is part of, is said in any case. A
/// lock that Redisson holds is waited for like any other.
///
/// Errors: std::system_error, as from mutex::acquire.
wait_result wait_for_lock(client& through, const lock_request& what, const wait_options& wait,
                          signal_queue& signals, bool talk);

}  // namespace holdfast::tool
