#pragma once

#include <cstddef>
#include <cstdint>

#include "core/fencing_token.hpp"
#include "core/local_queue.hpp"
#include "core/timing.hpp"
#include "core/tuning.hpp"

/// What a holder leaves that lets go while others of its process wait for the same lock. The first
/// of them may take the lease over as it stands, under the same owner token at the servers, without
/// asking any: exclusion is a matter of this process then, and the old holder has let go.
///
///   it must be        because
///   asked for after   a token is larger than those that were given out before its request was
///   the next asked    sent, not before its holder asked. In between the servers may have lost
///                     the lock and given it to somebody else, with a larger token
///   unchanged         renewals and extensions are between their holder and the servers, and one
///                     may still be on its way
///   under an owner    an owner that its holder has shown is that holder's alone: whoever was given
///   nobody has seen   it must find nothing to verify, extend or release once it has let go
///   with a token left every holder has a fencing token of its own; the first draws for all, and
///                     the servers count on from the last
///   young             other processes wait, too; and the next expects nearly a whole ttl
///   of equal timing   what the servers were asked for is what the next holder would ask for
namespace holdfast::core {

struct grant {
    time_point sent_at{};  // when the servers were asked for it
    time_point valid_until{};
    fencing_token token{};             // of who leaves it; zero without fencing
    std::uint32_t slot = 0;            // of a semaphore
    std::uint32_t hand_offs_left = 0;  // how many more may follow, one after the other
    arrival last_arrival = 0;          // who joined the queue later waits for the next grant
    bool unchanged = true;             // since the servers granted it
    bool shown = false;                // its owner token, by who leaves it
};

/// How many may have one grant of the servers in turn, and for how long.
inline constexpr auto most_holders = tuning::hand_off::most_holders;
inline constexpr auto hand_off_window = tuning::hand_off::window;

/// For whom a grant is asked: the caller, and who stands in the queue when the request is first
/// written. One that is written again, or to more nodes, stays as it is: all of them came before
/// that, too.
struct hand_off_batch {
    std::uint32_t tokens = 1;  // one for each, up to most_holders
    arrival last = 0;          // who came so far
    friend bool operator==(const hand_off_batch&, const hand_off_batch&) = default;
};
hand_off_batch batch_for(local_id caller, const local_queue& waiting);

/// Who would go on with it: what it would have asked for, and when it joined the queue.
struct next_holder {
    timing wished{};
    arrival joined = 0;
};

/// `granted`: what it was asked for with.
bool may_hand_off(const grant& left, const timing& granted, const next_holder& next,
                  time_point now);

/// As the next holder has it. REQUIRES: may_hand_off.
grant hand_off(const grant& left);

/// What the first holder has of a grant: the servers' counters stand at the last of its tokens.
grant first_grant(time_point sent_at, time_point valid_until, fencing_token last,
                  const hand_off_batch& drawn);

}  // namespace holdfast::core
