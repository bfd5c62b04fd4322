#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/cluster_network.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {

struct redis_cluster_options {
    std::vector<std::string> configuration{};  // lines for every server
    std::size_t replicas = 1;                  // of each master
    std::string password{};                    // of the default user
    std::optional<tls_files> tls{};            // for clients, and between them: needs Redis 7
    bool separable = false;  // by a network that can be cut: needs Redis 7, no TLS
};

/// A real Redis Cluster of its own: three masters with a third of the slots each, in order, and as
/// many replicas of each as are asked for. It serves all slots, and every replica is in step, when
/// the constructor returns. A master that is away for a second is replaced.
///
/// Thread safety and errors: as of redis_server.
class redis_cluster {
  public:
    static constexpr std::size_t shards = 3;

    /// `configuration`: lines for every server. `replicas`: of each master.
    explicit redis_cluster(std::vector<std::string> configuration = {}, std::size_t replicas = 1);
    explicit redis_cluster(redis_cluster_options options);

    /// Of the three masters, without a password:
    /// "redis+cluster://127.0.0.1:P1,127.0.0.1:P2,127.0.0.1:P3", or "rediss+cluster://...".
    std::string url() const;
    /// For those who stay with who is cut off, at the servers of all shards. REQUIRES: separable.
    std::string url_of_other_side() const;
    /// REQUIRES: separable.
    void cut_off(const std::set<std::size_t>& servers,
                 cluster_network::clients which = cluster_network::clients::keep_to_a_side) {
        network_->cut_off(servers, which);
    }
    void heal() { network_->heal(); }

    redis_server& master(std::size_t shard) { return *servers_[shard]; }
    redis_server& replica(std::size_t shard, std::size_t which = 0) {
        return *servers_[shards * (which + 1) + shard];
    }

    /// All of them: the n-th is in the shard n % shards, and stays there.
    [[nodiscard]] std::size_t size() const { return servers_.size(); }
    redis_server& server(std::size_t n) { return *servers_[n]; }
    /// Which of them is the master of a shard now. REQUIRES: all of them answer, and one is.
    std::size_t master_of(std::size_t shard);
    /// Every shard has one master, with all others for replicas that are in step, and all servers
    /// know that, and serve all slots. REQUIRES: all of them answer.
    [[nodiscard]] bool settled();

    static std::size_t shard_of(std::uint16_t slot);
    std::uint16_t slot_of(const std::string& key);
    /// The master that had it from the beginning.
    redis_server& first_owner_of(const std::string& key) { return master(shard_of(slot_of(key))); }

    /// A slot moves in three steps. `from`, `to`: masters. Whoever is down has to find it out.
    void begin_moving(std::uint16_t slot, redis_server& from, redis_server& to);
    static void move_keys(std::uint16_t slot, redis_server& from, redis_server& to);
    void finish_moving(std::uint16_t slot, redis_server& to);
    void move(std::uint16_t slot, redis_server& from, redis_server& to);

    /// Moves all slots of a shard, in a few seconds. `to`: another master.
    void give_all(std::size_t shard, redis_server& to);
    /// All others forget the servers of a shard, which know of no Cluster afterwards. REQUIRES: it
    /// has no slots, and keys in none.
    void forget(std::size_t shard);

    /// Waits until a replica of a shard whose master is down, or frozen, has taken its place, and
    /// all other servers know it. Returns that one. REQUIRES: master(shard) was it.
    redis_server& await_promotion(std::size_t shard);

    /// Waits until a server that was replaced, and is back, follows who took its place.
    void await_replicas(std::size_t shard);
    /// Makes it the master again, as an operator does who wants it where it was.
    void give_back(std::size_t shard);

  private:
    void introduce();
    void hand_out_slots();
    void attach_replicas();
    void await(const std::string& what, const std::function<bool()>& condition);
    [[nodiscard]] std::vector<redis_server*> running();
    [[nodiscard]] bool in_step(std::size_t shard);
    [[nodiscard]] redis_server* promoted(std::size_t shard);

    [[nodiscard]] std::uint16_t port_by_network(std::size_t server) const;
    void start(const redis_cluster_options& options);

    const std::size_t replicas_;
    const bool tls_;
    std::vector<std::unique_ptr<redis_server>> servers_;
    std::optional<cluster_network> network_;
};

}  // namespace holdfast::test
