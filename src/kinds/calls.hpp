#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/time.hpp"

/// How waiters stand in line at a server, and are called, whatever the kind of lock. What the
/// scripts make of it: src/scripts/exclusive/grant_next.lua.
namespace holdfast::kinds {

/// For how long a lock is kept for a waiter that does not claim it: the number of
/// src/scripts/exclusive/grant_next.lua.
inline constexpr core::duration granted_for = std::chrono::seconds(2);
/// For how long the word is owed that a waiter has left the line. Others who wait keep the queue
/// alive, so an entry does not go away by itself; an hour of outage is enough.
inline constexpr core::duration leaving_owed_for = std::chrono::hours(1);

/// A waiter in line, but for the channel of its client and the owner token that it waits under.
struct entry {
    std::uint64_t since = 0;  // microseconds of the server's clock; 0: not known
    bool callable = false;    // by the channel of its client
    friend bool operator==(const entry&, const entry&) = default;
};

/// How an entry begins, `<channel> <since> `, to which scripts add the owner token; `-` for a
/// channel: it cannot be called. Valid until the next call by this thread.
std::string_view text_of(const entry& which, std::string_view channel);

/// What a waiter is told when a lock was granted to it. It believes nothing of it, and looks.
struct call {
    std::string_view owner;  // under which it waits
    std::string_view lock;
};
/// `<owner>\n<lock>`; nullopt: it is none.
std::optional<call> read_call(std::string_view message);

}  // namespace holdfast::kinds
