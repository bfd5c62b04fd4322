#pragma once

#include <cstddef>
#include <cstdint>

#include "core/time.hpp"

/// Every number that was chosen for speed or patience and that no promise rests on: a wrong one
/// costs time, never a lock. What users decide for themselves is in holdfast/options.hpp.
///
/// Measured on two cores, servers on loopback (doc/performance.md), unless it says otherwise.
namespace holdfast::core::tuning {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// platform::spin_policy. Costs up to 0.8 of a core while empty critical sections are passed among
/// threads, and doubles their rate; options::spin switches it off.
namespace spin {
// 8 to 64 threads that wait for answers gain, 256 do not; forty yields bring no more than ten.
inline constexpr std::size_t several = 4;
inline constexpr unsigned yields_for_answers = 10;
// In the queue for a lock: half as fast again to twice as fast with 16 threads, a little with 20 to
// 32, no gain with 40, and a loss with 64. Ten yields bring 40 to 80 % of what 40 do.
inline constexpr std::size_t few = 24;
inline constexpr unsigned yields_in_line = 40;
// After so many times in vain it is tried once in 64 times. Chosen.
inline constexpr unsigned most_skipped = 63;
// A round of yields that takes longer than the threads of this client can need gave the processor
// to strangers, and nobody spins for 25 times as long. Chosen.
inline constexpr duration allowance = milliseconds(1);
inline constexpr duration slice_of_one = microseconds(25);
inline constexpr duration longest_slice = milliseconds(40);
inline constexpr int avoid_factor = 25;
}  // namespace spin

/// platform::threaded_driver
namespace driving {
// What is due that soon is kept in time by whoever polls: waking another thread, and being woken by
// it, costs more than a timeout that is likely to come.
inline constexpr duration soon = milliseconds(10);
// After a round that failed for want of memory. Chosen.
inline constexpr duration pause_after_failure = milliseconds(1);
}  // namespace driving

/// core::hand_off
namespace hand_off {
// How many may have one grant of the servers in turn. Chosen; counters that start from a clock in
// microseconds bear it, since fewer than a million tokens a second are drawn.
inline constexpr std::uint32_t most_holders = 16;
// How long they may go on, if their leases are not even shorter: what others wait at most for it.
inline constexpr duration window = milliseconds(20);
}  // namespace hand_off

/// core::yield_policy: how a process leaves gaps to others, with several voters.
namespace yielding {
// How long it may have had the lock before it does; twice as long whenever nobody used the gap. A
// gap of 1 ms in 20 is 5 % of the time, in 320 0.3 %.
inline constexpr duration soonest = milliseconds(20);
inline constexpr duration latest = milliseconds(320);
// Twice as long as asking takes, within these.
inline constexpr duration shortest_gap = milliseconds(1);
inline constexpr duration longest_gap = milliseconds(50);
}  // namespace yielding

/// core::contend
namespace waiting {
// Nodes tell of one release at slightly different times. After the first word the others get this
// long to follow, so that the attempt does not meet the old owner on a majority.
inline constexpr duration settling_time = milliseconds(1);
// Expiry is only visible to the millisecond, and those who wake together split the vote.
inline constexpr duration expiry_slack = milliseconds(1);
inline constexpr duration expiry_jitter = milliseconds(3);
// Over how long those part who keep splitting the vote: from two of them to a multitude.
inline constexpr duration shortest_spread = milliseconds(2);
inline constexpr duration longest_spread = milliseconds(128);
// Polling, where the server does not tell.
inline constexpr duration first_delay = milliseconds(2);
inline constexpr duration longest_delay = milliseconds(500);
// The longest sleep of who will be notified by a quorum: what a lost push costs at most.
inline constexpr duration longest_sleep = seconds(5);
// So often who stands in line at a server looks: what a lost call costs at most. The queue is kept
// for ten times as long (src/scripts/exclusive/queue_acquire.lua).
inline constexpr duration look_every = seconds(1);
// Later for everybody who stands before it: a look costs the server what the line is long. 10,000
// who looked once a second brought one to a standstill.
inline constexpr duration look_later = milliseconds(1);
// So much later than who is first does each who stands behind it look when a lease ends: the first
// may be frozen, and all at once would be a crowd.
inline constexpr duration expiry_later = milliseconds(10);
}  // namespace waiting

/// runtime::wait_queue: for how long it is believed that nobody stands in line at a server, which
/// said so. A cycle takes a hundredth of it; whoever comes later asks by the script. Chosen.
inline constexpr duration quiet_for = milliseconds(20);

/// runtime::wait_queues: so many that nobody uses keep what they have learned. Chosen.
inline constexpr std::size_t most_idle_queues = 64;

/// core::watchdog by way of runtime::hold: parts of the ttl, and the bounds of the second.
namespace renewal {
inline constexpr int fraction = 3;         // after the last confirmed one was sent
inline constexpr int retry_fraction = 30;  // after one that was not confirmed
inline constexpr duration shortest_retry = milliseconds(10);
inline constexpr duration longest_retry = seconds(1);
}  // namespace renewal

/// runtime::release_retries: releases that a server refused. Chosen.
namespace owed {
inline constexpr duration first_pause = milliseconds(100);
inline constexpr duration longest_pause = seconds(5);
inline constexpr std::size_t most_per_node = 4096;  // beyond it keys expire by themselves
inline constexpr std::size_t most_detached = 1024;  // beyond it no grant is declined
}  // namespace owed

/// runtime::heartbeat: how soon a clock that jumped or a new life of a server is noticed.
inline constexpr duration heartbeat_period = seconds(1);

/// runtime::drain: how long a client that is closed hears out what it has asked.
inline constexpr duration longest_drain = milliseconds(100);

/// net::node and net::connection
namespace servers {
// Pauses before a reconnect.
inline constexpr duration first_delay = milliseconds(20);
inline constexpr duration longest_delay = seconds(1);
// What makes a server unfit may be mended: so often it is looked at again while somebody asks.
inline constexpr duration unfit_for = milliseconds(500);
// Unanswered for so many node timeouts, a server is gone.
inline constexpr int silence_factor = 3;
// After this long without a word it is worth a system call to ask whether the server is there.
inline constexpr duration idle_time = milliseconds(1);
inline constexpr std::size_t first_buffer = std::size_t{16} * 1024;
// Replicas get so much of the time that a server has for an answer, so that its answer, how many of
// them have acknowledged, is there before that is over. Chosen.
inline constexpr int acknowledged_in_quarters = 3;
// The write that they acknowledge goes away by itself. Each time it does is another write, so not
// at once. Chosen.
inline constexpr duration acknowledged_write_lasts = seconds(60);
// So often a Sentinel is asked again that would tell by itself: what a lost message costs at most.
inline constexpr duration ask_sentinel_every = seconds(1);
}  // namespace servers

/// net::slot and runtime::cluster. Chosen.
namespace clusters {
// While a slot is being moved its locks cannot be taken: so soon it is asked again.
inline constexpr duration moving_pause = milliseconds(50);
// How often one request is sent on before it has failed.
inline constexpr unsigned most_hops = 8;
// Pauses between two looks at the map, while something suggests that it is out of date.
inline constexpr duration first_look = milliseconds(20);
inline constexpr duration longest_look = milliseconds(250);
// Slots that an operator enlists: so many are asked for in one write.
inline constexpr std::size_t slots_at_once = 512;
}  // namespace clusters

}  // namespace holdfast::core::tuning
