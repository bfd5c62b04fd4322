// What the nemesis does to a Cluster.

#include "storm/nemesis.hpp"
#include "storm/visitor.hpp"

namespace holdfast::storm {
namespace {

constexpr std::size_t shards = test::redis_cluster::shards;

// In milliseconds. Who does not notice goes on serving for as long as it is cut off.
constexpr auto noticed = "1000";
constexpr auto unnoticed = "60000";

void notice_cuts_after(test::redis_server& server, const std::string& time) {
    server.command({"CONFIG", "SET", "cluster-node-timeout", time});
}

}  // namespace

std::size_t nemesis::shard_of(std::string_view key) {
    const auto known = moved_to_.find(key);
    if (known != moved_to_.end()) return known->second;
    return test::redis_cluster::shard_of(scene_.cluster().slot_of(std::string(key)));
}

std::vector<std::size_t> nemesis::choose_in_cluster(fault_kind kind) {
    auto& cluster = scene_.cluster();
    auto shard = std::uniform_int_distribution<std::size_t>(0, shards - 1)(random_);
    // Where most threads meet there is most to be seen of both sides.
    if (kind == fault_kind::cut_off_master) shard = shard_of(popular_key);
    const std::size_t master = cluster.master_of(shard);
    std::vector<std::size_t> replicas;
    for (auto n = shard; n < cluster.size(); n += shards) {
        if (n != master) replicas.push_back(n);
    }
    switch (kind) {
        case fault_kind::fail_over: return some_of(replicas, 1);
        case fault_kind::stop_replicas: return replicas;
        case fault_kind::cut_off_master: {
            std::vector<std::size_t> inside{master};
            if (chance(50)) inside.push_back(some_of(replicas, 1).front());
            return inside;
        }
        case fault_kind::move_slot: {
            const std::size_t which =
                std::uniform_int_distribution<std::size_t>(0, keys.size() - 1)(random_);
            moving_ = keys[which];
            const auto from = shard_of(moving_);
            moved_to_[moving_] = (from + 1 + (shard % (shards - 1))) % shards;
            return {cluster.master_of(from)};
        }
        default: return {master};
    }
}

// Half of the slots with all keys at the server that they go to, for as long as it takes; half of
// the servers that are cut off do not notice.
void nemesis::begin_in_cluster(const strike& chosen, std::size_t n) {
    auto& cluster = scene_.cluster();
    switch (chosen.kind) {
        case fault_kind::fail_over: cluster.server(n).command({"CLUSTER", "FAILOVER"}); return;
        case fault_kind::stop_master:
        case fault_kind::stop_replicas: return cluster.server(n).pause();
        case fault_kind::kill_master: return cluster.server(n).kill_hard();
        case fault_kind::cut_off_master:
            if (chosen.harsh) notice_cuts_after(cluster.server(n), unnoticed);
            if (n == chosen.targets.back()) {
                cluster.cut_off({chosen.targets.begin(), chosen.targets.end()});
            }
            return;
        case fault_kind::move_slot: {
            const auto slot = cluster.slot_of(std::string(moving_));
            auto& to = cluster.server(cluster.master_of(moved_to_[moving_]));
            cluster.begin_moving(slot, cluster.server(n), to);
            if (chosen.harsh) test::redis_cluster::move_keys(slot, cluster.server(n), to);
            return;
        }
        default: return;
    }
}

void nemesis::end_in_cluster(const strike& chosen, std::size_t n) {
    auto& cluster = scene_.cluster();
    switch (chosen.kind) {
        case fault_kind::stop_master:
        case fault_kind::stop_replicas: return cluster.server(n).resume();
        case fault_kind::kill_master:
            return chosen.harsh ? cluster.server(n).restart(test::data::lost)
                                : cluster.server(n).start();
        case fault_kind::cut_off_master:
            notice_cuts_after(cluster.server(n), noticed);
            return cluster.heal();
        case fault_kind::move_slot: {
            const auto slot = cluster.slot_of(std::string(moving_));
            auto& to = cluster.server(cluster.master_of(moved_to_[moving_]));
            test::redis_cluster::move_keys(slot, cluster.server(n), to);
            return cluster.finish_moving(slot, to);
        }
        default: return;
    }
}

}  // namespace holdfast::storm
