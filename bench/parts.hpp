#pragma once

#include "report.hpp"

namespace holdfast::bench {

/// The parts of the benchmark. Each starts the servers that it needs, and reports what it found. A
/// part that pins its threads to a core does so for good: one part per process. quick: a smoke
/// test; its numbers mean nothing.

/// One server beside hiredis and redis-benchmark, all on one core.
void one_server(bool quick, report& out);

/// Five servers, each behind a network that takes a millisecond: what an acquire costs beside one
/// such round trip, also with a server that does not answer.
void slow_quorum(bool quick, report& out);

/// A master with replicas a millisecond away: what an acquire costs that a replica knows, beside a
/// write that one knows; and behind Sentinels, how long it takes to the next lock when it dies.
void replication(bool quick, report& out);

/// Contenders that start at the same moment, on five servers and on one: until all had the lock.
void split_votes(bool quick, report& out);

/// Ten thousand coroutines in flight, on one thread.
void coroutines(bool quick, report& out);

/// A hundred thousand leases held at once: memory, renewals, and giving them all back.
void held_leases(bool quick, report& out);

}  // namespace holdfast::bench
