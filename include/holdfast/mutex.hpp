#pragma once

#include <string>

#include "holdfast/client.hpp"
#include "holdfast/detail/lockable.hpp"
#include "holdfast/lease.hpp"

namespace holdfast {

/// A named lock: at most one valid holder among all clients with the same servers, database, prefix
/// and key (T1), each with its fencing token (T2): doc/guarantees.md.
///
///   operation                          blocks until                         held by another
///   lock, acquire                      it has the lock                      waits
///   try_lock_for, try_acquire_for,     it has the lock, or the time         false, empty
///     and the same with _until           is over
///   try_lock, try_acquire              one attempt is answered              false, empty
///   unlock                             the release is answered
///   async_...                          never: holdfast/asio.hpp
///
/// With lock() and the like, Lockable and TimedLockable as for std::scoped_lock, the mutex keeps
/// the lease, and only the thread that locked may unlock. acquire() and the like return the lease,
/// which any thread may release.
///
/// Behind the time to wait, where there is one, acquire and the like take options, a stop_token and
/// an error_code, in this order; each may be left out. try_acquire takes no stop_token. Options
/// replace all of the mutex's; `{}` are the defaults of acquire_options, and never a stop_token.
///
/// Waiting: the callers of one client that wait for a key form a FIFO wait queue. Only its head
/// contends at the servers. They tell it when the key goes away; those that cannot are polled, with
/// back-off. A release may hand the lease off to the next in the queue without asking a server. An
/// attempt that does not wait does not queue, and is denied without a round trip while a lease of
/// this client holds the key. Between clients, those who wait are served in the order of arrival
/// with one server, and in none with a quorum.
///
/// Blocking: a round trip takes options::node_timeout at most, and connect_timeout more where it
/// has to connect. An attempt is one; two, where the fencing counters of a quorum differ or,
/// without fencing, to learn who holds the lock; and again as many where a server was flushed
/// meanwhile. The first attempt of a client at a quorum first waits, for node_timeout at most,
/// until every server was tried. unlock() is one round trip; none with a hand-off, for a lost
/// lease, or where acquire_options::await_release is false.
///
/// Outages: the head of the queue tries again for options::patience while no majority can be
/// reached, and then fails with what kept it, mostly errc::unreachable. So do those behind it who
/// have waited as long, one attempt after the other. What waiting does not mend fails at once (a
/// wrong password, an ACL, a certificate, a key that is no lock). A timed call fails with
/// errc::unreachable if its time is over before the first answer. Time points of other clocks are
/// converted when it begins, and a year is the longest wait.
///
/// Errors, besides those of every operation (client): errc::cancelled, by the stop_token;
/// errc::invalid_option, for options given with the call. That another holds the lock, or that the
/// servers are in quarantine (holder::quarantine), is a value.
///
/// Two mutexes with one key exclude each other, in one client, too. Not re-entrant: to lock again
/// what the thread holds waits until its own lease is lost, for ever if that is renewed; see
/// recursive_mutex.
/// REQUIRES: a thread unlocks before it ends; otherwise the lock stays held, and is renewed, until
/// the mutex is destroyed. No thread is in a member of a mutex that is destroyed.
///
/// Its members, which all kinds of locks have: holdfast/detail/lockable.hpp.
class mutex : public detail::lockable {
  public:
    /// Asks no server. Throws errc::invalid_key (holdfast/error.hpp) and errc::invalid_option.
    /// Where the client's max_ttl is below the default ttl, that default is refused by the calls
    /// that use it, not here.
    mutex(client& through, std::string key, acquire_options how = {});
    ~mutex();  // releases what is still held, as unlock() does
};

}  // namespace holdfast
