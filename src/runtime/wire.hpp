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

void set_if_absent(std::string& out, const keys& of, std::string_view owner, core::duration ttl);
/// `guarded`: the server is asked for its restart marker too.
// NOLINTNEXTLINE(readability-function-size): one parameter for each argument of the script
void acquire(std::string& out, bool by_text, const keys& of, bool guarded, std::string_view owner,
             core::duration ttl, core::duration retention, std::uint32_t tokens);
void commit(std::string& out, bool by_text, const keys& of, std::string_view owner,
            core::fencing_token token, core::duration retention);
void extend(std::string& out, bool by_text, const keys& of, std::string_view owner,
            core::duration ttl, core::duration retention);
void release(std::string& out, bool by_text, const keys& of, std::string_view owner);
/// `quarantine`: none for a server that is not guarded.
void enlist(std::string& out, bool by_text, std::string_view run_id,
            std::optional<core::duration> quarantine);

struct granted {
    core::fencing_token counter;
};
struct held {
    std::string_view owner;    // empty: not told
    core::duration remaining;  // negative: for ever, or not told
};
struct quarantined {
    core::duration remaining;
};
struct unlisted {};
using acquire_answer = std::variant<granted, held, quarantined, unlisted, net::failure>;

acquire_answer read_set_if_absent(resp::view reply);
acquire_answer read_acquire(resp::view reply);

/// Of commit, extend and release: done, or not the owner any more.
enum class ownership : std::uint8_t { ours, not_ours };
using ownership_answer = std::variant<ownership, net::failure>;

ownership_answer read_ownership(resp::view reply);

/// How long the server stays in quarantine; negative: it is in none.
using enlist_answer = std::variant<core::duration, net::failure>;

enlist_answer read_enlist(resp::view reply);

}  // namespace holdfast::runtime::wire
