#pragma once

/// Distributed locks on Redis and Valkey. A lock is a lease on a key, granted by one server or by a
/// majority of a quorum, and renewed in the background until it is released.
///
///   T1, timed    No two holders of a key are valid at the same time. A holder is valid until
///                lease::valid_until() or its release, whichever is first. Assumes a bounded clock
///                drift, and servers that do not forget keys.
///   T2, fenced   lease::token() is unique to its holder, and larger than that of whoever acquired
///                the key before this holder asked for it. Assumes nothing about pauses, delays or
///                the clocks of clients.
///
/// Not promised: that a process does nothing once its lease is over (lease::ensure_held() tells it,
/// and a resource that compares tokens stops it), an order of waiters between the clients of a
/// quorum, a bound on waiting, that a release arrives, anything across fork(). All assumptions, and
/// what each deployment gives: doc/guarantees.md.
///
/// Read client, mutex, lease, options and error, in this order; then the other kinds of locks:
/// shared_mutex, semaphore, multi_mutex, recursive_mutex, election, latch. Not included from here:
/// holdfast/asio.hpp (coroutines and callbacks, needs Boost) and holdfast/operate.hpp (who holds
/// what, release by owner token, the state of the servers).

#include "holdfast/client.hpp"
#include "holdfast/clock.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/election.hpp"
#include "holdfast/error.hpp"
#include "holdfast/label.hpp"
#include "holdfast/latch.hpp"
#include "holdfast/lease.hpp"
#include "holdfast/log.hpp"
#include "holdfast/multi_mutex.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/options.hpp"
#include "holdfast/recursive_mutex.hpp"
#include "holdfast/replicas.hpp"
#include "holdfast/semaphore.hpp"
#include "holdfast/shared_mutex.hpp"
#include "holdfast/statistics.hpp"
#include "holdfast/version.hpp"
