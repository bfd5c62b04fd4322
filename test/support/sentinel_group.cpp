#include "support/sentinel_group.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "support/acknowledgement.hpp"
#include "support/eventually.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr auto settle_bound = 40s;

/// The text behind a name in a reply that lists both in turn.
std::string value_of(const reply& list, const std::string& name) {
    for (std::size_t n = 0; n + 1 < list.elements.size(); n += 2) {
        if (list.elements[n].text == name) return list.elements[n + 1].text;
    }
    return {};
}

void add(std::vector<std::string>& lines, const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
}

}  // namespace

sentinel_group::sentinel_group(sentinel_group_options options) : options_{std::move(options)} {
    servers_.emplace_back(server_options(false));
    for (std::size_t n = 0; n < options_.replicas; ++n) servers_.emplace_back(server_options(true));
    for (std::size_t n = 0; n < options_.sentinels; ++n) {
        sentinels_.emplace_back(sentinel_options());
        // Four times the last is how long a replica may call itself a master until the others turn
        // it back: it must be longer than the second after which who leads a fail-over looks.
        sentinels_.back().query({"SENTINEL", "DEBUG", "INFO-PERIOD", "100", "PING-PERIOD", "100",
                                 "ASK-PERIOD", "100", "PUBLISH-PERIOD", "500"});
    }
    settle();
}

void sentinel_group::settle() {
    if (!eventually(settle_bound, [&] { return settled(); })) {
        throw std::runtime_error{"the Sentinels do not agree; the log of one:\n" +
                                 sentinels_.front().log()};
    }
    await_acknowledgement(servers_.front(), options_.replicas, options_.servers.password);
}

void sentinel_group::add_replica() {
    servers_.emplace_back(server_options(true));
    ++options_.replicas;
    settle();
}

redis_options sentinel_group::server_options(bool replica) const {
    auto result = options_.servers;
    add(result.configuration, {"repl-diskless-sync-delay 0", "repl-ping-replica-period 1"});
    if (!result.password.empty()) {
        result.configuration.push_back("masterauth \"" + result.password + "\"");
    }
    if (options_.tls) {
        result.tls = options_.tls;
        result.configuration.emplace_back("tls-replication yes");
    }
    if (replica) {
        result.configuration.push_back("replicaof 127.0.0.1 " +
                                       std::to_string(port_of(servers_.front())));
    }
    return result;
}

redis_options sentinel_group::sentinel_options() const {
    const auto& name = options_.master_name;
    redis_options result{.password = options_.sentinel_password, .arguments = {"--sentinel"}};
    add(result.configuration,
        {"sentinel monitor " + name + " 127.0.0.1 " + std::to_string(port_of(servers_.front())) +
             " " + std::to_string(options_.sentinels / 2 + 1),
         "sentinel down-after-milliseconds " + name + " " +
             std::to_string(options_.down_after.count()),
         "sentinel failover-timeout " + name + " 2000", "sentinel parallel-syncs " + name + " 5"});
    if (!options_.servers.password.empty()) {
        result.configuration.push_back("sentinel auth-pass " + name + " " +
                                       options_.servers.password);
    }
    if (!options_.sentinel_password.empty()) {
        result.configuration.push_back("sentinel sentinel-pass " + options_.sentinel_password);
    }
    if (options_.tls) {
        result.tls = options_.tls;
        result.configuration.emplace_back("tls-replication yes");
    }
    return result;
}

std::uint16_t sentinel_group::port_of(const redis_server& which) const {
    return options_.tls ? which.tls_port() : which.port();
}

std::string sentinel_group::url() const {
    std::string result = options_.tls ? "rediss+sentinel://" : "redis+sentinel://";
    const char* separator = "";
    for (const auto& each : sentinels_) {
        result += separator + std::string("127.0.0.1:") + std::to_string(port_of(each));
        separator = ",";
    }
    return result + "/" + options_.master_name;
}

bool sentinel_group::settled() const {
    return std::all_of(sentinels_.begin(), sentinels_.end(), [&](const redis_server& each) {
        const auto said = each.query({"SENTINEL", "MASTER", options_.master_name});
        if (value_of(said, "flags") != "master" ||
            value_of(said, "num-slaves") != std::to_string(options_.replicas) ||
            value_of(said, "num-other-sentinels") != std::to_string(options_.sentinels - 1)) {
            return false;
        }
        const auto replicas = each.query({"SENTINEL", "REPLICAS", options_.master_name});
        return std::all_of(replicas.elements.begin(), replicas.elements.end(),
                           [](const reply& replica) {
                               return value_of(replica, "flags") == "slave" &&
                                      value_of(replica, "master-link-status") == "ok";
                           });
    });
}

std::size_t sentinel_group::named_by(std::size_t sentinel) const {
    const auto said =
        sentinels_[sentinel].query({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", options_.master_name});
    for (std::size_t n = 0; n < servers_.size() && said.elements.size() == 2; ++n) {
        if (said.elements[1].text == std::to_string(port_of(servers_[n]))) return n;
    }
    throw std::runtime_error{"a Sentinel names none of the servers: " + to_string(said)};
}

std::size_t sentinel_group::master() const {
    for (std::size_t n = 0; n < sentinels_.size(); ++n) {
        try {
            return named_by(n);
        } catch (const std::runtime_error&) {  // NOLINT(bugprone-empty-catch): it is down
        }
    }
    throw std::runtime_error{"no Sentinel names a master"};
}

void sentinel_group::turn_away(std::size_t server) {
    servers_[server].command({"CONFIG", "SET", "requirepass", "nobody knows"});
}

void sentinel_group::cut_off_from_replicas(std::size_t server) {
    turn_away(server);
    (void)servers_[server].query({"CLIENT", "KILL", "TYPE", "replica"});
}

// Sentinels name their connections.
void sentinel_group::cut_off_from_sentinels(std::size_t server) {
    turn_away(server);
    std::istringstream clients(servers_[server].command({"CLIENT", "LIST"}));
    for (std::string line; std::getline(clients, line);) {
        if (line.find(" name=sentinel-") == std::string::npos) continue;
        const auto begin = line.find('=') + 1;
        const std::string id = line.substr(begin, line.find(' ') - begin);
        (void)servers_[server].query({"CLIENT", "KILL", "ID", id});  // may be gone by now
    }
}

void sentinel_group::admit_again(std::size_t server) {
    servers_[server].command({"CONFIG", "SET", "requirepass", options_.servers.password});
}

void sentinel_group::fail_over() {
    const std::vector<std::string> command{"SENTINEL", "FAILOVER", options_.master_name};
    std::string last;
    // It takes a moment until a replica is good enough.
    const bool begun = eventually(settle_bound, [&] {
        last = to_string(sentinels_.front().query(command));
        return last == "OK";
    });
    if (!begun) throw std::runtime_error{"SENTINEL FAILOVER: " + last};
}

std::size_t sentinel_group::wait_for_another(std::size_t before) {
    const bool moved = eventually(settle_bound, [&] {
        for (std::size_t n = 0; n < sentinels_.size(); ++n) {
            if (sentinels_[n].running() && named_by(n) == before) return false;
        }
        return true;
    });
    if (!moved) throw std::runtime_error{"no fail-over:\n" + sentinels_.front().log()};
    return master();
}

void sentinel_group::wait_until_whole() {
    const auto whole = [&] {
        try {
            const auto info = servers_[master()].command({"INFO", "replication"});
            const auto wanted = "connected_slaves:" + std::to_string(options_.replicas) + "\r\n";
            return info.find(wanted) != info.npos && settled();
        } catch (const std::runtime_error&) {
            return false;
        }
    };
    if (!eventually(settle_bound, whole)) throw std::runtime_error{"a server does not come back"};
    await_acknowledgement(servers_[master()], options_.replicas, options_.servers.password);
}

void sentinel_group::wait_until_synchronous(std::size_t replica, std::size_t of) {
    const auto offset = [](const redis_server& which, const std::string& field) {
        const auto info = which.command({"INFO", "replication"});
        const auto at = info.find("\r\n" + field + ":");
        return at == info.npos ? 0LL : std::stoll(info.substr(at + field.size() + 3));
    };
    const auto wanted = offset(servers_[of], "master_repl_offset");
    if (eventually(settle_bound,
                   [&] { return offset(servers_[replica], "slave_repl_offset") >= wanted; })) {
        return;
    }
    throw std::runtime_error{"the replica does not follow"};
}

}  // namespace holdfast::test
