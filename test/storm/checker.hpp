#pragma once

#include <array>
#include <string>
#include <vector>

#include "storm/account.hpp"

namespace holdfast::storm {

/// What must be true. The promises and their assumptions are those of doc/guarantees.md.
enum class rule : std::uint8_t {
    exclusion,      // T1: no two validity intervals of a key overlap
    unique_tokens,  // T2
    token_order,    // T2: who asks after another has acquired gets the larger token
    fenced_update,  // the fenced register loses none, ever
    plain_update,   // the plain one only by a write after its deadline, or where T1 is not promised
    foreign_release,  // "released" is said to nobody who lost the key to another before
    shared_owner,     // every holder has one owner, and no other has the same
    needless_loss,    // no key goes away in mid-validity unless a server was made to forget
    notice,           // a loss is announced before the deadline, if the process ran at that time
    progress,         // while a minority is struck, locks go on being taken
    recovery,         // after healing everybody gets a lock, and every key can be had
};

inline constexpr std::array<std::string_view, 11> rule_names{
    "exclusion (T1)",   "unique tokens (T2)",
    "token order (T2)", "lost fenced update",
    "unexplained loss", "release by a stranger",
    "shared owner",     "needless loss",
    "notice",           "progress",
    "recovery"};

constexpr std::string_view name_of(rule broken) {
    return rule_names[static_cast<std::size_t>(broken)];
}

struct violation {
    rule broken{};
    instant at{};
    std::string story{};
};

/// How long things may take. T1 is not promised from a forward jump of a server's clock, or a lock
/// that was deleted by hand, until no lease of before can be valid any more, which takes `max_ttl`.
struct bounds {
    instant max_ttl = std::chrono::milliseconds(2500);
    instant loss_notice = std::chrono::milliseconds(340);  // the longest of any lease
    instant standstill = std::chrono::seconds(8);
    instant recovery = std::chrono::seconds(10);
};

struct verdict {
    std::vector<violation> violations{};  // by time
    std::size_t plain_updates = 0;
    std::size_t fenced_updates = 0;
    std::size_t lost_after_deadline = 0;  // plain updates lost by a late write: expected
    std::size_t lost_unpromised = 0;      // plain updates lost where T1 is not promised
    std::size_t lost_around_a_kill = 0;   // by a writer that was killed and could not say when
    std::size_t overlaps_unpromised = 0;
    std::size_t warned_in_time = 0;
};

/// Pure: the same account gives the same verdict.
verdict check(const account& all, const bounds& within = {});

}  // namespace holdfast::storm
