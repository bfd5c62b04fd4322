#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/lease.hpp"
#include "holdfast/operate.hpp"
#include "json.hpp"

namespace holdfast::tool {

/// A duration as a person wants it, and parse_duration() reads it: `500ms`, `1.2s`, `45s`, `1h30m`,
/// `2d`. No finer than a tenth of a second from a second on, and in two units from a minute on.
std::string in_words(std::chrono::nanoseconds duration);

/// `'a', 'b'`: what is locked, for a message.
std::string names_in_words(const std::vector<std::string>& keys);

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

/// `2 of 3`: the servers that have it for the holder that is shown.
std::string votes_in_words(const lock_status& status);

/// `1st`, `2nd`, `3rd`, `11th`.
std::string ordinal(std::size_t place);

/// Who stands there, and for how long, as far as that is known: `anna@web1, process 4711,
/// for 3.2s`.
std::string waiter_in_words(const lock_status::waiter& each);

/// `2 of 3`: the permits that are taken; `? of 3` where that is not known. REQUIRES: a semaphore.
std::string permits_in_words(const lock_status& status);

/// `anna@web1, process 4711 (nightly), its lease runs another 12s`.
std::string reader_in_words(const lock_status::reader& each);

/// The place of this process in the line, from 1 on; nullopt: none, or not among those told of.
std::optional<std::size_t> own_place(const lock_status& status);

/// `a lock is held`, `3 locks are held`.
std::string held_in_words(const std::vector<lock_status>& locks);
/// Of the first of them who holds it, and how many more there are.
std::string a_few_in_words(const std::vector<lock_status>& locks);

/// `anna@web1, process 4711 leads in term 17: 10.0.0.7:80`, or `nobody leads`.
std::string leader_in_words(const leader& now);
/// The same for programs: one object, with null where nobody leads.
json_object leader_as_json(const std::string& name, const leader& now);

/// `1 of 3 have counted down`, or `open`.
std::string latch_in_words(const latch_view& latch);

enum class lock_state : std::uint8_t { held, free, foreign };

lock_state state_of(const lock_status& status);
const char* name_of(lock_state state);

/// The object of `status --json` and `ls --json`, which asks neither who waits nor for forced
/// releases: an object without `waiters` and `forced`.
std::string status_as_json(const lock_status& status, const std::optional<forced_release>& last);
std::string listed_as_json(const lock_status& status);

}  // namespace holdfast::tool
