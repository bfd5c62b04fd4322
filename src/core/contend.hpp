#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "core/acquire.hpp"
#include "core/backoff.hpp"
#include "core/contention.hpp"
#include "core/node_set.hpp"
#include "core/time.hpp"
#include "core/tuning.hpp"

/// Decides for one caller when to attempt, when to wait, and when to give up.
///
///   state        meaning
///   idle         not started; or standing in the local queue behind somebody else
///   attempting   an acquire machine is running
///   waiting      until notified, or until wake_at
///   done         `outcome()` is final
///
///                idle            attempting              waiting             done
///   turn         attempt, after  remember                attempt, after      ignored
///                a gap (N > 1)                           a gap (N > 1)
///   attempted    asserted        hold, wait or give up   asserted            ignored: cancelled
///   handed off   done: held      asserted                done: held          ignored
///   notified     ignored: the    remember: the answer    attempt, or soon    ignored
///                attempt asks    may be older than it    after (N > 1); not
///                                                        while it steps back
///   tick         give up if the caller's time is over    attempt or give up  ignored
///   cancelled    done            done; the caller        done                ignored
///                                cancels the acquire
///
/// One voter has a queue: who is denied stands in line there, is called when the lock was granted
/// to it, and then asks once more, to claim it. Once a second it looks whether a call was lost; who
/// is first in line looks when the holder's lease ends, too. Who cannot be called polls.
///
/// Several voters have no common order. Asking them to be notified costs something, so the first
/// attempt does not. Once it was denied in vain, the next one follows at once and asks; where
/// others are known, the first one does.
///
/// A server that is emptied while it is asked grants nothing that counts. It is asked once more at
/// once, also for who does not wait.
///
/// Giving up reports what the last attempt met; unreachable, if the first has not been answered,
/// and nobody of this client was denied while we stood behind it.
///
/// `chance` is 64 random bits, fresh for every call.
namespace holdfast::core {

/// What a denied attempt learned about the holder.
struct denial_summary {
    duration remaining{-1};  // of its lease; negative: not known, or no expiry
    bool tracked = false;    // we will be notified when the key goes away
    bool split = false;      // nobody can have a majority: all who tried are stepping back
    std::size_t place = 0;   // in line at the only voter; 0: in none
    bool called = false;     // and we will be called when it is our turn
    friend bool operator==(const denial_summary&, const denial_summary&) = default;
};

/// What was said to an attempt that was denied, by those who denied it and by the others.
struct denials {
    std::span<const duration> remaining{};  // of the lease at each of them; negative: not known
    std::size_t nodes = 1;
    std::size_t unknown = 0;    // out of reach: they will not be free when others let go
    std::size_t strongest = 0;  // at how many nodes one and the same rival denied
    bool tracked = false;       // every denying node will tell us
};

/// What that teaches: when enough of the denying nodes will have let go for a majority to be free,
/// and whether anybody can have one now.
denial_summary summarize(const denials& said);

class contend {
  public:
    enum class state : std::uint8_t { idle, attempting, waiting, done };

    struct config {
        std::size_t nodes = 1;
        bool waits = true;              // false: one attempt, unless the server was emptied
        time_point give_up_at = never;  // the caller's own limit
        duration patience{};            // how long no majority may be in reach
        duration first_delay = tuning::waiting::first_delay;
        duration longest_delay = tuning::waiting::longest_delay;
        duration longest_sleep =
            tuning::waiting::longest_sleep;  // the longest sleep when notified, not polling
    };

    struct turn {
        contention others{};
        duration pause{0};  // in which they may go first
        bool stood_behind = false;
        time_point out_since = never;  // since when we and those before us reached no majority
    };  // nobody of this process stands before us, and none holds the key
    struct attempted {
        acquire::verdict how;
        denial_summary other{};
        bool hopeless = false;  // asking again changes nothing: a wrong password, not a lock
        bool emptied = false;   // what was granted meanwhile does not count: asked again, but once
    };
    struct notified {
        node_index node;
    };                     // the key went away or changed there, or was granted to us
    struct handed_off {};  // the lease of somebody in this process, who let go
    struct tick {};
    struct cancelled {};
    using event = std::variant<turn, attempted, handed_off, notified, tick, cancelled>;

    enum class action : std::uint8_t { none, attempt, finish };

    struct decision {
        action what = action::none;
        time_point wake_at = never;  // send a tick then
        bool listens = false;  // the attempt asks a quorum to notify us when the key goes away
        friend bool operator==(const decision&, const decision&) = default;
    };

    explicit contend(const config& settings);

    decision step(const event& happened, time_point now, std::uint64_t chance);

    [[nodiscard]] state current() const { return state_; }
    [[nodiscard]] acquire::verdict outcome() const { return outcome_; }

    /// What to remember of it for the next caller. REQUIRES: it got the lock from the servers.
    [[nodiscard]] contention met() const { return {.known = attempts_ > 1, .spread = spread_ / 2}; }

  private:
    decision on(const turn& answer, time_point now, std::uint64_t chance);
    decision on(const attempted& answer, time_point now, std::uint64_t chance);
    decision on(const handed_off& answer, time_point now, std::uint64_t chance);
    decision on(const notified& answer, time_point now, std::uint64_t chance);
    decision on(const tick& answer, time_point now, std::uint64_t chance);
    decision on(const cancelled& answer, time_point now, std::uint64_t chance);

    decision attempt();
    decision attempt_apart(time_point now, std::uint64_t chance);
    decision step_back(time_point now, std::uint64_t chance);
    decision finish(acquire::verdict how);
    decision sleep_until(time_point when);
    decision after_contention(const denial_summary& other, time_point now, std::uint64_t chance);
    decision after_outage(const attempted& answer, time_point now, std::uint64_t chance);
    [[nodiscard]] bool unanswered() const { return state_ == state::attempting && !answered_; }
    [[nodiscard]] time_point next_look(const denial_summary& other, time_point now,
                                       std::uint64_t chance);
    [[nodiscard]] time_point next_look_in_line(const denial_summary& other, time_point now,
                                               std::uint64_t chance);

    config config_;
    state state_ = state::idle;
    acquire::verdict outcome_ = acquire::verdict::none;
    acquire::verdict last_ = acquire::verdict::contended;  // what giving up now would report
    unsigned attempts_ = 0;
    bool answered_ = false;  // some attempt has been decided, or one of those we stood behind was
    bool repeated_ = false;  // an attempt, because the server was emptied
    bool listens_ = false;
    backoff delay_;
    time_point out_since_ = never;  // since when no majority was in reach
    time_point wake_at_ = never;
    node_set notified_by_{};      // since the last attempt began
    bool stepping_back_ = false;  // chance alone decides when the next attempt begins
    duration spread_{0};          // over how long contenders part; zero: there was no need yet
};

}  // namespace holdfast::core
