#include "support/redis_cluster.hpp"

#include <algorithm>
#include <stdexcept>

#include "support/eventually.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr auto bound = 30s;
constexpr std::size_t slots = 16384;

std::size_t first_slot_of(std::size_t shard) {
    return (slots * shard + redis_cluster::shards - 1) / redis_cluster::shards;
}

std::string port_of(const redis_server& server) { return std::to_string(server.port()); }

bool says(const redis_server& server, const std::vector<std::string>& question,
          const std::string& text) {
    return server.command(question).find(text) != std::string::npos;
}

}  // namespace

redis_cluster::redis_cluster(std::vector<std::string> configuration) {
    configuration.insert(configuration.end(),
                         {"cluster-node-timeout 1000", "cluster-replica-validity-factor 0",
                          "repl-diskless-sync-delay 0", "cluster-migration-barrier 100"});
    for (std::size_t n = 0; n < 2 * shards; ++n) {
        servers_.push_back(std::make_unique<redis_server>(
            redis_options{.configuration = configuration, .cluster = true}));
    }
    introduce();
    hand_out_slots();
    attach_replicas();
}

std::string redis_cluster::url() const {
    std::string text = "redis+cluster://";
    for (std::size_t n = 0; n < shards; ++n) {
        text += (n == 0 ? "127.0.0.1:" : ",127.0.0.1:") + port_of(*servers_[n]);
    }
    return text;
}

std::size_t redis_cluster::shard_of(std::uint16_t slot) {
    std::size_t shard = shards - 1;
    while (slot < first_slot_of(shard)) --shard;
    return shard;
}

std::uint16_t redis_cluster::slot_of(const std::string& key) {
    return static_cast<std::uint16_t>(
        std::stoul(running().front()->command({"CLUSTER", "KEYSLOT", key})));
}

void redis_cluster::await(const std::string& what, const std::function<bool()>& condition) {
    if (!eventually(bound, condition)) throw std::runtime_error{"the cluster did not " + what};
}

std::vector<redis_server*> redis_cluster::running() {
    std::vector<redis_server*> all;
    for (const auto& each : servers_) {
        if (each->running()) all.push_back(each.get());
    }
    return all;
}

void redis_cluster::introduce() {
    for (std::size_t n = 0; n < servers_.size(); ++n) {
        servers_[n]->command({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(n + 1)});
    }
    auto& first = *servers_.front();
    const auto bus = [](const redis_server& server) {
        return server.command({"CONFIG", "GET", "cluster-port"});
    };
    for (std::size_t n = 1; n < servers_.size(); ++n) {
        const auto told = bus(*servers_[n]);
        const auto digits = told.find_last_not_of("0123456789");
        first.command({"CLUSTER", "MEET", "127.0.0.1", port_of(*servers_[n]),
                       told.substr(digits == told.npos ? 0 : digits + 1)});
    }
    await("meet", [&] {
        return std::all_of(servers_.begin(), servers_.end(), [&](const auto& each) {
            return says(*each, {"CLUSTER", "INFO"},
                        "cluster_known_nodes:" + std::to_string(2 * shards));
        });
    });
}

void redis_cluster::hand_out_slots() {
    for (std::size_t n = 0; n < shards; ++n) {
        master(n).command({"CLUSTER", "ADDSLOTSRANGE", std::to_string(first_slot_of(n)),
                           std::to_string(first_slot_of(n + 1) - 1)});
    }
}

void redis_cluster::attach_replicas() {
    for (std::size_t n = 0; n < shards; ++n) {
        const auto id = master(n).command({"CLUSTER", "MYID"});
        await("know its masters", [&] {
            return !replica(n).query({"CLUSTER", "REPLICATE", id}).is_error();
        });
    }
    await("come up", [&] {
        return std::all_of(servers_.begin(), servers_.end(), [&](const auto& each) {
            return says(*each, {"CLUSTER", "INFO"}, "cluster_state:ok");
        });
    });
    await("replicate", [&] {
        for (std::size_t n = 0; n < shards; ++n) {
            const bool linked = says(replica(n), {"INFO", "replication"}, "master_link_status:up");
            const bool known = says(master(n), {"INFO", "replication"}, "connected_slaves:1");
            if (!linked || !known) return false;
        }
        return true;
    });
    // Every server has to know every replica's master: the map names them then.
    await("spread its map", [&] {
        return std::all_of(servers_.begin(), servers_.end(), [&](const auto& each) {
            const auto nodes = each->command({"CLUSTER", "NODES"});
            std::size_t found = 0;
            for (auto at = nodes.find("slave"); at != nodes.npos; at = nodes.find("slave", at + 1))
                ++found;
            return found == shards;
        });
    });
}

void redis_cluster::begin_moving(std::uint16_t slot, redis_server& from, redis_server& to) {
    const auto number = std::to_string(slot);
    to.command({"CLUSTER", "SETSLOT", number, "IMPORTING", from.command({"CLUSTER", "MYID"})});
    from.command({"CLUSTER", "SETSLOT", number, "MIGRATING", to.command({"CLUSTER", "MYID"})});
}

void redis_cluster::move_keys(std::uint16_t slot, redis_server& from, redis_server& to) {
    for (;;) {
        const auto found = from.query({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), "100"});
        if (found.elements.empty()) return;
        std::vector<std::string> command{"MIGRATE", "127.0.0.1", port_of(to), "",
                                         "0",       "5000",      "KEYS"};
        for (const auto& key : found.elements) command.push_back(key.text);
        from.command(command);
    }
}

void redis_cluster::finish_moving(std::uint16_t slot, redis_server& to) {
    const auto id = to.command({"CLUSTER", "MYID"});
    const std::vector<std::string> command{"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id};
    to.command(command);
    for (std::size_t n = 0; n < shards; ++n) {
        if (&master(n) != &to && master(n).running()) master(n).command(command);
    }
}

void redis_cluster::move(std::uint16_t slot, redis_server& from, redis_server& to) {
    begin_moving(slot, from, to);
    move_keys(slot, from, to);
    finish_moving(slot, to);
}

void redis_cluster::await_promotion(std::size_t shard) {
    await("promote a replica", [&] { return says(replica(shard), {"ROLE"}, "master"); });
    await("come up again", [&] {
        const auto all = running();
        return std::all_of(all.begin(), all.end(), [](const auto* each) {
            return says(*each, {"CLUSTER", "INFO"}, "cluster_state:ok");
        });
    });
}

}  // namespace holdfast::test
