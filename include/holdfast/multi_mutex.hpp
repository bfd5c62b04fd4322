#pragma once

#include <string>
#include <vector>

#include "holdfast/client.hpp"
#include "holdfast/detail/lockable.hpp"
#include "holdfast/lease.hpp"

namespace holdfast {

/// Several keys locked at once, all or nothing, with one lease: what std::scoped_lock is for
/// several mutexes, in one round trip.
///
///   holdfast::multi_mutex both{client, {"account:17", "account:42"}};
///   const std::scoped_lock moving{both};
///
/// All that mutex has, with the same meaning, for all keys: T1 holds for each of them, against
/// whoever locks it alone (mutex, both sides of shared_mutex, other libraries) or along with any
/// others. Nobody ever has some of the keys only. A renewal extends all of them, or the lease is
/// lost; a release frees all.
///
/// Order: none. The keys are a set: in whatever order they are given, and however the sets of two
/// callers overlap, neither waits for the other for ever. One that is given twice counts once.
///
/// Waiting: with one server, in the line of every key, which are entered at one moment and left
/// together. Keys that come to the head of their line are kept until the others are there, so that
/// nobody who came later can starve it; meanwhile nobody else can have them. So, as with every
/// lock: who holds one key and waits for another may wait for ever for somebody who waits for both.
/// Take them together. In a quorum there is no line, and each attempt asks for all keys at every
/// server.
///
/// Fencing: one token for the lease, larger than those of all who had any of the keys before it
/// asked (T2), and every later holder of any of them has a larger one. It may be given to a
/// resource of each key.
///
/// There is no hand-off within a process. lease::owner() begins with `hm1:`. What operate.hpp does
/// by an owner, or by force, it does to the one key that is named: the lease is lost with it, and
/// its other keys end with their ttl, or with the release that its holder does then.
///
/// Errors, besides those of mutex: errc::invalid_key for an empty list, or one of more than
/// max_keys. With one key it is a mutex. In a Redis Cluster all keys must be in one slot: give them
/// a common hash tag, as in `{accounts}:17` and `{accounts}:42`.
class multi_mutex : public detail::lockable {
  public:
    /// As that of mutex.
    multi_mutex(client& through, std::vector<std::string> keys, acquire_options how = {});
    ~multi_mutex();

    /// Sorted, each once, without options::prefix. key() has all of them, for messages.
    [[nodiscard]] const std::vector<std::string>& keys() const noexcept;
};

}  // namespace holdfast
