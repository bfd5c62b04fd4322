#include "support/cluster_network.hpp"

namespace holdfast::test {

cluster_network::place::place(const redis_server& server)
    : usual(server.port()),
      other(server.port(), other_side, usual.port()),
      bus(server.bus_port()) {}

std::string cluster_network::address_of(std::size_t server) {
    return "127.0.1." + std::to_string(server + 1);
}

void cluster_network::connect(redis_server& server) {
    const auto number = places_.size();
    places_.emplace_back(server);
    server.configure({"bind-source-addr " + address_of(number),
                      std::string("cluster-announce-ip ") + usual_side,
                      "cluster-announce-port " + std::to_string(port(number)),
                      "cluster-announce-bus-port " + std::to_string(bus_port(number)),
                      "cluster-preferred-endpoint-type unknown-endpoint"});
}

void cluster_network::cut_off(const std::set<std::size_t>& servers, clients which) {
    const bool all = which == clients::keep_to_a_side;
    std::set<std::string> inside;
    for (const auto each : servers) inside.insert(address_of(each));
    for (std::size_t n = 0; n < places_.size(); ++n) {
        const bool is_inside = servers.contains(n);
        const auto from_elsewhere = [inside, is_inside, all](const std::string& host) {
            return inside.contains(host) != is_inside && (all || host != usual_side);
        };
        places_[n].usual.silence_from(from_elsewhere);
        places_[n].bus.silence_from(from_elsewhere);
        if (all && !is_inside) places_[n].other.silence();
    }
}

void cluster_network::heal() {
    for (auto& each : places_) {
        each.usual.heal();
        each.other.heal();
        each.bus.heal();
    }
}

}  // namespace holdfast::test
