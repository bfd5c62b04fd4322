#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace holdfast::test {

/// A real Redis Cluster of its own: three masters with a third of the slots each, in order, and
/// three replicas, the n-th of the n-th master. It serves all slots, and every replica is in step,
/// when the constructor returns. A master that is away for a second is replaced.
///
/// Thread safety and errors: as of redis_server.
class redis_cluster {
  public:
    static constexpr std::size_t shards = 3;

    /// `configuration`: lines for every server.
    explicit redis_cluster(std::vector<std::string> configuration = {});

    /// Of the three masters: "redis+cluster://127.0.0.1:P1,127.0.0.1:P2,127.0.0.1:P3".
    std::string url() const;

    redis_server& master(std::size_t shard) { return *servers_[shard]; }
    redis_server& replica(std::size_t shard) { return *servers_[shards + shard]; }

    static std::size_t shard_of(std::uint16_t slot);
    std::uint16_t slot_of(const std::string& key);
    /// The master that had it from the beginning.
    redis_server& first_owner_of(const std::string& key) { return master(shard_of(slot_of(key))); }

    /// A slot moves in three steps. All masters have to be there.
    void begin_moving(std::uint16_t slot, redis_server& from, redis_server& to);
    static void move_keys(std::uint16_t slot, redis_server& from, redis_server& to);
    void finish_moving(std::uint16_t slot, redis_server& to);
    void move(std::uint16_t slot, redis_server& from, redis_server& to);

    /// Waits until the replica of a shard whose master is down has taken its place, and all other
    /// servers know it.
    void await_promotion(std::size_t shard);

  private:
    void introduce();
    void hand_out_slots();
    void attach_replicas();
    void await(const std::string& what, const std::function<bool()>& condition);
    [[nodiscard]] std::vector<redis_server*> running();

    std::vector<std::unique_ptr<redis_server>> servers_;
};

}  // namespace holdfast::test
