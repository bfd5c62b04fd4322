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
    // Of the wait queue at the only server:
    order,           // the lock goes to who stands in line, first come, first served
    unclaimed_lock,  // while somebody waits it stays with nobody, or with who stands still, for a
                     // moment
    gone_in_line,    // no entry outlives its waiter
    left_behind,     // nothing remains of locks and queues when all are gone
    shares,          // processes that are after one lock all the time have it equally often
};

inline constexpr std::array<std::string_view, 16> rule_names{
    "exclusion (T1)",   "unique tokens (T2)",
    "token order (T2)", "lost fenced update",
    "unexplained loss", "release by a stranger",
    "shared owner",     "needless loss",
    "notice",           "progress",
    "recovery",         "order",
    "unclaimed lock",   "gone, and in line",
    "left behind",      "shares"};

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

    // Of the wait queue. A grant lasts for 2 s, who waits looks once a second, and the rest is for
    // a busy machine.
    instant unclaimed = std::chrono::seconds(2);                    // of who runs, and of nobody
    instant unclaimed_by_frozen = std::chrono::milliseconds(3500);  // or dead
    instant settling = std::chrono::seconds(5);                     // after a fault of the server
    instant entry_of_the_dead = std::chrono::seconds(11);           // 10 s, and a second
    instant entry_without_waiter = std::chrono::seconds(3);         // whose leaving nothing held up
    instant left_behind = std::chrono::seconds(12);                 // 10 s, and a lease
    instant rush_begins = std::chrono::seconds(3);  // earlier waits are over by then
    double shares = 1.25;                           // of the best to the worst
    std::size_t fewest_grants = 40;                 // of the best: else it says nothing
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
    std::size_t grants_compared = 0;    // with who stood in line before
    std::size_t arrivals_compared = 0;  // of holders who had asked while others stood in line
    std::size_t passed_over = 0;        // locks that lay with the frozen or dead for a second
    std::size_t shares_compared = 0;    // rushes
    double widest_share = 0;            // of the best to the worst, in any of them
};

/// Pure: the same account gives the same verdict.
verdict check(const account& all, const bounds& within = {});

}  // namespace holdfast::storm
