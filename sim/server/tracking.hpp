#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sim {

/// Who is to be told when a key changes: a server's table for client-side caching. A key is told of
/// once, and then forgotten, also for whoever changed it and therefore was not told (NOLOOP).
class tracking_table {
  public:
    using connection = std::uint32_t;

    void remember(std::string_view key, connection who);

    /// Calls `tell` with everybody who is to be told of the key, in the order in which they asked.
    template <typename Tell>
    void take(std::string_view key, Tell&& tell) {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (all_[i].key != key) continue;
            const auto told = std::move(all_[i].by);
            std::swap(all_[i], all_.back());
            all_.pop_back();
            for (const auto who : told) tell(who);
            return;
        }
    }

    void forget(connection who);
    void clear() { all_.clear(); }

  private:
    struct entry {
        std::string key;
        std::vector<connection> by;
    };
    std::vector<entry> all_;
};

}  // namespace holdfast::sim
