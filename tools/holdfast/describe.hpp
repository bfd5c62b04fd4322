#pragma once

#include <chrono>
#include <string>

#include "holdfast/lease.hpp"
#include "holdfast/operate.hpp"

namespace holdfast::tool {

/// A duration as a person wants it: no finer than a tenth of a second from a second on.
std::string in_words(std::chrono::nanoseconds duration);

/// `anna@web1, process 4711 (nightly)`; what another library left is named by its value.
std::string holder_in_words(const holder& who);

/// `its lease runs another 12s`, or that it never ends.
std::string lease_in_words(const holder& who);

enum class lock_state : std::uint8_t { held, free, foreign };

lock_state state_of(const lock_status& status);
const char* name_of(lock_state state);

/// The object of `status --json` and `ls --json`.
std::string status_as_json(const lock_status& status);

}  // namespace holdfast::tool
