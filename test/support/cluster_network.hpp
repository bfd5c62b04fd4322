#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {

/// The network between the servers of a Cluster, and from clients to them: everything passes
/// through proxies, the bus, too, and each server is known by the address that it comes from. So
/// servers can be cut off from the others together with clients of theirs.
///
/// Clients come by 127.0.0.1, or by 127.0.0.2, at the same ports. Those are the ones who are left
/// with the servers that are cut off, and reach no other. The map names no addresses: everybody
/// uses the one that it came by.
///
/// Needs Redis 7: `bind-source-addr`, `cluster-preferred-endpoint-type`.
///
/// Thread safety and errors: as of fault_proxy.
class cluster_network {
  public:
    static constexpr auto usual_side = "127.0.0.1";
    static constexpr auto other_side = "127.0.0.2";

    /// The next server: it is told by which ports and address it is known. REQUIRES: it is down.
    void connect(redis_server& server);

    /// By which a server is reached.
    [[nodiscard]] std::uint16_t port(std::size_t server) const {
        return places_[server].usual.port();
    }
    [[nodiscard]] std::uint16_t bus_port(std::size_t server) const {
        return places_[server].bus.port();
    }

    /// keep_to_a_side: as above. reach_all: only servers are cut off from servers.
    enum class clients : std::uint8_t { keep_to_a_side, reach_all };

    /// These servers and clients that come by the other side reach each other, and nobody else.
    /// What is under way arrives when it is over.
    void cut_off(const std::set<std::size_t>& servers, clients which = clients::keep_to_a_side);
    void heal();

  private:
    struct place {
        explicit place(const redis_server& server);
        fault_proxy usual;
        fault_proxy other;
        fault_proxy bus;
    };

    static std::string address_of(std::size_t server);

    std::deque<place> places_;
};

}  // namespace holdfast::test
