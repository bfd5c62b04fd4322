#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/fencing_token.hpp"
#include "core/time.hpp"
#include "net/failure.hpp"
#include "resp/view.hpp"

/// The commands that a lock consists of, and what their answers mean. The numbers that the scripts
/// return have their names here.
namespace holdfast::runtime::wire {

/// The keys of one lock. The auxiliary ones carry its hash tag, to share its Cluster slot.
struct keys {
    std::string lock;
    bool fenced = true;
};

/// `holdfast:{orders:42}:fence`, or `holdfast:fence:{user1}:cart` where the key has a tag itself.
std::string counter_key(std::string_view lock);
/// The same for the note that a lock was taken away by force.
std::string forced_key(std::string_view lock);

void set_if_absent(std::string& out, const keys& of, std::string_view owner, core::duration ttl);
/// `floor`: below it no token may be drawn.
// NOLINTNEXTLINE(readability-function-size): one parameter for each argument of the script
void acquire(std::string& out, bool by_text, const keys& of, std::string_view owner,
             core::duration ttl, core::duration retention, std::uint32_t tokens,
             std::uint64_t floor);
void commit(std::string& out, bool by_text, const keys& of, std::string_view owner,
            core::fencing_token token, core::duration retention);
void extend(std::string& out, bool by_text, const keys& of, std::string_view owner,
            core::duration ttl, core::duration retention);
void release(std::string& out, bool by_text, const keys& of, std::string_view owner);

/// By text always, like force(): hardly anybody ever needs it.
void linger(std::string& out, const keys& of, std::string_view owner, core::duration how_long,
            core::duration retention);

struct note {
    std::string_view by, held_by, reason;
};
void force(std::string& out, const keys& of, std::string_view owner, core::duration kept_for,
           const note& why);

struct granted {
    core::fencing_token counter;
};
struct held {
    std::string_view owner;    // empty: not told
    core::duration remaining;  // negative: for ever, or not told
};
using acquire_answer = std::variant<granted, held, net::failure>;

acquire_answer read_set_if_absent(resp::view reply);
acquire_answer read_acquire(resp::view reply);

/// Of commit, extend and release: done, or not the owner any more.
enum class ownership : std::uint8_t { ours, not_ours };
using ownership_answer = std::variant<ownership, net::failure>;

ownership_answer read_ownership(resp::view reply);

}  // namespace holdfast::runtime::wire
