#pragma once

#include <string>

#include "holdfast/client.hpp"
#include "holdfast/detail/lockable.hpp"
#include "holdfast/lease.hpp"

namespace holdfast {

/// The name of a lock, and how it is taken: Lockable and TimedLockable, for std::scoped_lock,
/// std::unique_lock and std::lock; or the maker of leases, for those who want the fencing token
/// and the warning before a loss.
///
///   lock(), try_lock...   the mutex keeps the lease; unlock() by the same thread releases it
///   acquire, try_acquire  the caller keeps the lease
///
/// Behind the time to wait, where there is one, acquire and the like take options, a stop_token and
/// an error_code, in this order; each may be left out. try_acquire, which does not wait, takes no
/// stop_token. Options replace the mutex's, all of them; `{}` are the defaults of acquire_options,
/// and never a stop_token.
///
/// One object may be shared by threads: at most one of them holds it. Two objects of one key
/// exclude each other as two processes would. Not re-entrant: locking it again in the same thread
/// waits for ever, as with std::mutex; see recursive_mutex.
///
/// Waiting: callers of one process stand in line, first come, first served, and only the first
/// contends at the server, which tells it when the key goes away.
///
/// Blocking: an attempt takes a round trip, and options::node_timeout at most, with a connection to
/// be made first options::connect_timeout more; try_lock() and try_acquire() are one attempt. While
/// no server can be reached, those who wait go on for options::patience, and then fail with
/// errc::unreachable. unlock() waits for the answer to the release, for node_timeout at most,
/// unless acquire_options::await_release is false.
///
/// Thread safety: all members may be called from any thread.
/// Cancellation: a std::stop_token, where one is taken, ends the wait with errc::cancelled.
/// Errors: that somebody else holds the lock is a value. Failures throw std::system_error with a
/// holdfast::errc, or EAGAIN for want of a thread, or std::bad_alloc; or are stored in the
/// std::error_code& of the overload. unlock() never throws; unlocking what this thread does not
/// hold goes to the log, or is errc::not_held; in a forked child it does nothing: errc::forked.
/// Neither tells of a lease that was lost meanwhile: current()->lost() before it, or
/// lease::release(), does.
///
/// Its operations, which all kinds of locks have: holdfast/detail/lockable.hpp.
class mutex : public detail::lockable {
  public:
    /// Checks key and options. Where the ttl is the default one and the client's max_ttl is
    /// shorter, only key and label: whatever takes no options of its own then fails, and the others
    /// work.
    mutex(client& through, std::string key, acquire_options how = {});
    ~mutex();  // releases what is still held
};

}  // namespace holdfast
