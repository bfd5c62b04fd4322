#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/hash_slot.hpp"
#include "net/failure.hpp"
#include "resp/view.hpp"

namespace holdfast::net {

/// How many servers a shard has, those that are down included. Up to Redis 7.0 a master that was
/// replaced is in no shard before it comes back, so that there may be more than are named.
struct shard_size {
    std::size_t at_least = 0;  // 0: not known
    std::size_t at_most = 0;
    friend bool operator==(const shard_size&, const shard_size&) = default;
};

/// Which server of a Cluster serves which slot, as one of them sees it. A value.
class slot_map {
  public:
    struct server {
        std::string host{};
        std::uint16_t port = 0;
        std::string id{};          // as the Cluster calls it; empty: not told
        std::size_t replicas = 0;  // that the map names
        [[nodiscard]] bool at(std::string_view other_host, std::uint16_t other_port) const {
            return host == other_host && port == other_port;
        }
    };

    /// Nobody serves anything.
    slot_map() { owners_.fill(nobody); }

    /// The answer to CLUSTER SLOTS. `asked`: the host that gave it, for servers whose own it does
    /// not know.
    static std::variant<slot_map, failure> read(resp::view reply, const std::string& asked);

    /// The answer to CLUSTER SHARDS, of the same server. What cannot be read tells nothing, as that
    /// of Redis 6, which does not know the question.
    void read_sizes(resp::view reply, const std::string& asked);
    /// Of the shard that a server is in, which need not serve a slot.
    [[nodiscard]] shard_size size_around(const server& which) const;

    /// All masters that serve a slot, or did.
    [[nodiscard]] const std::vector<server>& masters() const { return masters_; }
    /// Its place in masters(); nullopt: nobody serves it.
    [[nodiscard]] std::optional<std::size_t> owner_of(std::uint16_t slot) const {
        return owners_[slot] == nobody ? std::nullopt : std::optional<std::size_t>(owners_[slot]);
    }
    [[nodiscard]] std::size_t covered() const;
    [[nodiscard]] std::size_t served_by(std::size_t master) const;

    /// A server says that another one serves it.
    void moved(std::uint16_t slot, const std::string& host, std::uint16_t port);

  private:
    static constexpr std::uint16_t nobody = UINT16_MAX;

    std::size_t place_of(server which);

    struct shard {
        std::vector<server> servers;  // by each of their ports
        std::size_t members = 0;
    };

    std::vector<server> masters_;
    std::vector<shard> shards_;
    std::size_t displaced_ = 0;  // servers that are down, and in a shard that serves nothing
    std::array<std::uint16_t, core::slot_count> owners_{};
};

}  // namespace holdfast::net
