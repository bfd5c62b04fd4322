#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/lease.hpp"
#include "holdfast/operate.hpp"

namespace holdfast::tool {

/// A duration as a person wants it, and parse_duration() reads it: `500ms`, `1.2s`, `45s`, `1h30m`,
/// `2d`. No finer than a tenth of a second from a second on, and in two units from a minute on.
std::string in_words(std::chrono::nanoseconds duration);

/// `anna@web1, process 4711 (nightly)`; what another library left is named by its value, as far as
/// fits into a line.
std::string holder_in_words(const holder& who);

/// That no lock can be had for so long, why, and what to do about it.
std::string quarantine_in_words(std::chrono::milliseconds left);
/// What to do about it alone.
std::string quarantine_advice();

/// `its lease runs another 12s`, or that it never ends.
std::string lease_in_words(const holder& who);
/// The same of who holds it. REQUIRES: somebody does.
std::string lease_in_words(const lock_status& status);

/// `a lock is held`, `3 locks are held`.
std::string held_in_words(const std::vector<lock_status>& locks);
/// Of the first of them who holds it, and how many more there are.
std::string a_few_in_words(const std::vector<lock_status>& locks);

enum class lock_state : std::uint8_t { held, free, foreign };

lock_state state_of(const lock_status& status);
const char* name_of(lock_state state);

/// The object of `status --json` and `ls --json`, which does not ask for forced releases.
std::string status_as_json(const lock_status& status,
                           const std::optional<forced_release>& last = std::nullopt);

}  // namespace holdfast::tool
