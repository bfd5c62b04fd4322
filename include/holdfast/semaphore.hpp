#pragma once

#include <cstdint>
#include <string>

#include "holdfast/client.hpp"
#include "holdfast/detail/lockable.hpp"
#include "holdfast/lease.hpp"

namespace holdfast {

/// The most permits that a semaphore can have.
inline constexpr std::uint32_t max_permits = 100'000;

/// A named lock that a fixed number of holders may have at the same time: among all clients with
/// the same server, database, prefix and key. Each has a permit with a number, lease::slot(), from
/// 0 to the limit less one, which no other valid holder has: so it knows which shard, or licence,
/// is its own. The lowest number that is free is given out.
///
/// Its members are those of mutex, with the same meaning: lock() waits for a permit, unlock() gives
/// it back, acquire() and the like return the lease. A thread has one permit by lock(), and as many
/// as it likes by acquire().
///
/// The limit is agreed on at the server, by whoever comes first, and stays agreed on for
/// options::fence_retention after the last use. Another one is refused with errc::other_limit;
/// set_limit() in holdfast/operate.hpp changes it.
///
/// Permits of holders that died come back when their leases are over. Who waits stands in line, in
/// the order of arrival, and who comes while others do is denied.
///
/// Fencing (T2): a token is larger than those of all who had a permit of this semaphore before its
/// holder asked; so tokens order those who have had one slot.
///
/// One server only: of several that vote, each could grant to others, and more could have a permit
/// than there are (errc::invalid_option). A lock of another kind at the key, or a semaphore where
/// such a lock is wanted, is errc::wrong_type, and nothing is changed.
class semaphore : public detail::lockable {
  public:
    /// `permits`: from 1 to max_permits, or errc::invalid_option. Else as that of mutex.
    semaphore(client& through, std::string key, std::uint32_t permits, acquire_options how = {});
    ~semaphore();
};

}  // namespace holdfast
