#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::kinds {

/// How the names of all keys begin that Holdfast keeps beside the locks themselves.
inline constexpr std::string_view own_keys = "holdfast:";

/// The keys of one lock. The auxiliary ones carry its hash tag, to share its Cluster slot.
struct keys {
    std::string lock;
    bool fenced = true;
    bool queued = false;        // there is one voter, which keeps those who wait in line
    std::uint32_t permits = 0;  // of a semaphore

    /// Where several are locked at once, those behind `lock`, which is the first of them in their
    /// order; null: there is no other.
    std::shared_ptr<const std::vector<std::string>> others{};

    [[nodiscard]] std::span<const std::string> rest() const {
        return others ? std::span<const std::string>(*others) : std::span<const std::string>{};
    }

    /// Every lock there is, in order: `lock` is the first.
    [[nodiscard]] std::size_t locks() const { return 1 + rest().size(); }
    [[nodiscard]] const std::string& lock_at(std::size_t n) const {
        return n == 0 ? lock : (*others)[n - 1];
    }
};

/// `holdfast:{orders:42}:fence`, or `holdfast:fence:{user1}:cart` where the key has a tag itself.
void append_key_beside(std::string& out, std::string_view lock, std::string_view what);

/// Whether the keys beside a lock share its slot in a Cluster. Those of `a}b` and `{}x` do not:
/// what stands in braces around the lock ends at its own brace.
bool shares_its_slot(std::string_view lock);

/// The counter that fencing tokens are drawn from: the same for all kinds, so that the holders of a
/// key have one order.
std::string counter_key(std::string_view lock);

/// Where those stand in line who wait for a lock of one voter.
std::string queue_key(std::string_view lock);

/// The note that a lock was taken away by force.
std::string forced_key(std::string_view lock);

}  // namespace holdfast::kinds
