#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// Who has subscribed to which channel of a server. A connection that is forgotten receives nothing
/// any more; one whose client is gone, which the server has not noticed, is a receiver like others.
class channel_table {
  public:
    using connection = std::uint32_t;

    /// False where it already was, or was not, subscribed.
    bool add(std::string_view channel, connection who);
    bool remove(std::string_view channel, connection who);

    /// In the order in which they came.
    [[nodiscard]] std::span<const connection> receivers_of(std::string_view channel) const;

    /// One that it is subscribed to; null: none.
    [[nodiscard]] const std::string* any_of(connection who) const;

    void forget(connection who);
    void clear() { all_.clear(); }

  private:
    struct entry {
        std::string channel;
        std::vector<connection> receivers;
    };

    void drop_empty();

    std::vector<entry> all_;
};

}  // namespace holdfast::sim
