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

std::string url_at(const std::string& scheme, const std::string& host, std::size_t seeds,
                   const std::function<std::uint16_t(std::size_t)>& port) {
    auto text = scheme + "://";
    for (std::size_t n = 0; n < seeds; ++n) {
        text += (n == 0 ? host : "," + host) + ":" + std::to_string(port(n));
    }
    return text;
}

/// As one server sees another: the slots are the last in its line.
bool serves_nothing(const redis_server& by, const std::string& id) {
    const auto nodes = by.command({"CLUSTER", "NODES"});
    const auto line = nodes.find("\n" + id) == nodes.npos ? 0 : nodes.find("\n" + id) + 1;
    return nodes.substr(line, nodes.find('\n', line) - line).ends_with("connected");
}

}  // namespace

redis_cluster::redis_cluster(std::vector<std::string> configuration, std::size_t replicas)
    : redis_cluster(
          redis_cluster_options{.configuration = std::move(configuration), .replicas = replicas}) {}

redis_cluster::redis_cluster(redis_cluster_options options)
    : replicas_(options.replicas), tls_(options.tls.has_value()) {
    start(options);
    introduce();
    hand_out_slots();
    attach_replicas();
}

void redis_cluster::start(const redis_cluster_options& options) {
    redis_options each{.configuration = options.configuration,
                       .password = options.password,
                       .tls = options.tls,
                       .cluster = true};
    each.configuration.insert(each.configuration.end(),
                              {"cluster-node-timeout 1000", "cluster-replica-validity-factor 0",
                               "repl-diskless-sync-delay 0", "cluster-migration-barrier 100"});
    if (!options.password.empty()) {
        each.configuration.push_back("masterauth \"" + options.password + "\"");
    }
    if (options.separable) network_.emplace();
    for (std::size_t n = 0; n < (1 + replicas_) * shards; ++n) {
        auto& server = *servers_.emplace_back(std::make_unique<redis_server>(each));
        if (!network_) continue;
        server.stop();
        network_->connect(server);
        server.start();
    }
}

std::uint16_t redis_cluster::port_by_network(std::size_t server) const {
    if (network_) return network_->port(server);
    return tls_ ? servers_[server]->tls_port() : servers_[server]->port();
}

std::string redis_cluster::url() const {
    return url_at(tls_ ? "rediss+cluster" : "redis+cluster", cluster_network::usual_side, shards,
                  [&](std::size_t n) { return port_by_network(n); });
}

// Whoever is on the smaller side finds a seed there only if all are named.
std::string redis_cluster::url_of_other_side() const {
    return url_at("redis+cluster", cluster_network::other_side, servers_.size(),
                  [&](std::size_t n) { return port_by_network(n); });
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
    for (std::size_t n = 1; n < servers_.size(); ++n) {
        std::vector<std::string> command{"CLUSTER", "MEET", "127.0.0.1",
                                         std::to_string(port_by_network(n))};
        command.push_back(std::to_string(network_ ? network_->bus_port(n) : server(n).bus_port()));
        first.command(command);
    }
    await("meet", [&] {
        return std::all_of(servers_.begin(), servers_.end(), [&](const auto& each) {
            return says(*each, {"CLUSTER", "INFO"},
                        "cluster_known_nodes:" + std::to_string(servers_.size()));
        });
    });
}

void redis_cluster::hand_out_slots() {
    for (std::size_t n = 0; n < shards; ++n) {
        std::vector<std::string> command{"CLUSTER", "ADDSLOTS"};
        for (auto slot = first_slot_of(n); slot < first_slot_of(n + 1); ++slot) {
            command.push_back(std::to_string(slot));
        }
        master(n).command(command);
    }
}

void redis_cluster::attach_replicas() {
    for (std::size_t n = 0; n < shards; ++n) {
        const auto id = master(n).command({"CLUSTER", "MYID"});
        for (std::size_t which = 0; which < replicas_; ++which) {
            await("know its masters", [&] {
                return !replica(n, which).query({"CLUSTER", "REPLICATE", id}).is_error();
            });
        }
    }
    await("come up", [&] {
        return std::all_of(servers_.begin(), servers_.end(), [&](const auto& each) {
            return says(*each, {"CLUSTER", "INFO"}, "cluster_state:ok");
        });
    });
    await("replicate", [&] { return in_step(0) && in_step(1) && in_step(2); });
    // Every server has to know every replica's master: the map names them then.
    await("spread its map", [&] {
        return std::all_of(servers_.begin(), servers_.end(), [&](const auto& each) {
            const auto nodes = each->command({"CLUSTER", "NODES"});
            std::size_t found = 0;
            for (auto at = nodes.find("slave"); at != nodes.npos; at = nodes.find("slave", at + 1))
                ++found;
            return found == replicas_ * shards;
        });
    });
}

bool redis_cluster::in_step(std::size_t shard) {
    for (std::size_t which = 0; which < replicas_; ++which) {
        const std::vector<std::string> question{"INFO", "replication"};
        if (!says(replica(shard, which), question, "master_link_status:up")) return false;
    }
    const auto all = "connected_slaves:" + std::to_string(replicas_);
    return says(master(shard), {"INFO", "replication"}, all);
}

redis_server* redis_cluster::promoted(std::size_t shard) {
    for (std::size_t which = 0; which < replicas_; ++which) {
        auto& each = replica(shard, which);
        if (each.running() && says(each, {"ROLE"}, "master")) return &each;
    }
    return nullptr;
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
    for (auto* const each : running()) {
        if (each != &to && says(*each, {"ROLE"}, "master")) each->command(command);
    }
}

void redis_cluster::give_all(std::size_t shard, redis_server& to) {
    auto& from = master(shard);
    const auto from_id = from.command({"CLUSTER", "MYID"});
    const auto to_id = to.command({"CLUSTER", "MYID"});
    for (auto slot = first_slot_of(shard); slot < first_slot_of(shard + 1); ++slot) {
        const auto number = std::to_string(slot);
        const std::vector<std::string> is_there{"CLUSTER", "SETSLOT", number, "NODE", to_id};
        to.command({"CLUSTER", "SETSLOT", number, "IMPORTING", from_id});
        from.command({"CLUSTER", "SETSLOT", number, "MIGRATING", to_id});
        move_keys(static_cast<std::uint16_t>(slot), from, to);
        to.command(is_there);
        // Who hears of it sooner, and has none left, has become a replica, which refuses it.
        (void)from.query(is_there);
    }
    await("hear of all moves", [&] {
        const auto all = running();
        return std::all_of(all.begin(), all.end(),
                           [&](const auto* each) { return serves_nothing(*each, from_id); });
    });
}

// Those who are forgotten would be met again if they went on talking.
void redis_cluster::forget(std::size_t shard) {
    std::vector<redis_server*> leaving;
    for (auto n = servers_.size(); n-- > 0;) {
        if (n % shards == shard) leaving.push_back(servers_[n].get());
    }
    for (auto* const each : leaving) {
        const auto id = each->command({"CLUSTER", "MYID"});
        for (std::size_t n = 0; n < servers_.size(); ++n) {
            if (n % shards != shard) server(n).command({"CLUSTER", "FORGET", id});
        }
    }
    for (auto* const each : leaving) each->command({"CLUSTER", "RESET", "SOFT"});
}

std::size_t redis_cluster::master_of(std::size_t shard) {
    for (auto n = shard; n < servers_.size(); n += shards) {
        if (says(server(n), {"ROLE"}, "master")) return n;
    }
    throw std::runtime_error{"shard " + std::to_string(shard) + " has no master"};
}

bool redis_cluster::settled() {
    for (std::size_t shard = 0; shard < shards; ++shard) {
        std::size_t masters = 0;
        for (auto n = shard; n < servers_.size(); n += shards) {
            const auto info = server(n).command({"INFO", "replication"});
            const bool leads = info.find("role:master") != info.npos;
            const auto all = "connected_slaves:" + std::to_string(replicas_);
            masters += leads ? 1 : 0;
            if (leads && info.find(all) == info.npos) return false;
            if (!leads && info.find("master_link_status:up") == info.npos) return false;
        }
        if (masters != 1) return false;
    }
    return std::all_of(servers_.begin(), servers_.end(), [&](const auto& each) {
        const auto nodes = each->command({"CLUSTER", "NODES"});
        return says(*each, {"CLUSTER", "INFO"}, "cluster_state:ok") &&
               nodes.find("fail") == nodes.npos;
    });
}

void redis_cluster::move(std::uint16_t slot, redis_server& from, redis_server& to) {
    begin_moving(slot, from, to);
    move_keys(slot, from, to);
    finish_moving(slot, to);
}

redis_server& redis_cluster::await_promotion(std::size_t shard) {
    await("promote a replica", [&] { return promoted(shard) != nullptr; });
    await("come up again", [&] {
        const auto all = running();
        return std::all_of(all.begin(), all.end(), [&](const auto* each) {
            return each == &master(shard) || says(*each, {"CLUSTER", "INFO"}, "cluster_state:ok");
        });
    });
    return *promoted(shard);
}

void redis_cluster::await_replicas(std::size_t shard) {
    await("take the former master back", [&] {
        return says(master(shard), {"INFO", "replication"}, "master_link_status:up");
    });
}

void redis_cluster::give_back(std::size_t shard) {
    await("fail over by hand", [&] {
        if (says(master(shard), {"ROLE"}, "master")) return true;
        (void)master(shard).query({"CLUSTER", "FAILOVER"});
        return false;
    });
    await("follow the master again", [&] { return in_step(shard); });
}

}  // namespace holdfast::test
