#pragma once

#include <cstdint>
#include <string>

#include "holdfast/client.hpp"
#include "holdfast/detail/lockable.hpp"
#include "holdfast/lease.hpp"

namespace holdfast {

/// The most permits that a semaphore can have.
inline constexpr std::uint32_t max_permits = 10'000;

/// A named lock that a fixed number of holders may have at the same time, as
/// std::counting_semaphore, among all clients with the same server, database, prefix and key.
///
/// Each holder has a permit: a lease with a number, lease::slot(), from 0 to `permits` less one,
/// which no other valid holder has. So it knows which shard, or licence, is its own.
///
/// Its members are those of mutex, with the same meaning: acquire() waits for a permit and returns
/// its lease, try_acquire() and try_acquire_for() do not wait, or not for long; so the words of
/// <semaphore> mean what they mean there, but that a permit is given back by its lease, and comes
/// back by itself when its holder has died. lock() and unlock() are there, too: a thread has one
/// permit by lock(), and as many as it likes by acquire().
///
/// The limit is agreed on at the server, by whoever comes first, and stays agreed on for
/// options::fence_retention after the last use. Who comes with another one is refused with
/// errc::other_limit; set_limit() in holdfast/operate.hpp, and `holdfast limit`, change it.
///
/// Waiting: whoever waits stands in line at the server, in the order of arrival, and is called; who
/// comes while others do is denied. Each caller stands there for itself, and no permit is handed
/// off within a process.
///
/// Fencing (T2): a token is larger than those of all who had a permit of this semaphore before its
/// holder asked; so tokens order those who have had one slot.
///
/// One server for each key: also a master behind Sentinels, or a Cluster. Of several that vote,
/// each could grant to others, and more could have a permit than there are (errc::invalid_option).
/// A lock of another kind at the key, or a semaphore where such a lock is wanted, is
/// errc::wrong_type, and nothing is changed.
class semaphore : public detail::lockable {
  public:
    /// `permits`: from 1 to max_permits, or errc::invalid_option. Else as that of mutex.
    semaphore(client& through, std::string key, std::uint32_t permits, acquire_options how = {});
    ~semaphore();
};

}  // namespace holdfast
