#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::kinds {

/// How the names of all keys begin that Holdfast keeps beside the locks themselves.
inline constexpr std::string_view own_keys = "holdfast:";

/// The keys of one lock. The auxiliary ones carry its hash tag, to share its Cluster slot.
struct keys {
    std::string lock;
    bool fenced = true;
    bool queued = false;        // there is one voter, which keeps those who wait in line
    std::uint32_t permits = 0;  // of a semaphore
};

/// `holdfast:{orders:42}:fence`, or `holdfast:fence:{user1}:cart` where the key has a tag itself.
void append_key_beside(std::string& out, std::string_view lock, std::string_view what);

/// The counter that fencing tokens are drawn from: the same for all kinds, so that the holders of a
/// key have one order.
std::string counter_key(std::string_view lock);

/// Where those stand in line who wait for a lock of one voter.
std::string queue_key(std::string_view lock);

/// The note that a lock was taken away by force.
std::string forced_key(std::string_view lock);

}  // namespace holdfast::kinds
