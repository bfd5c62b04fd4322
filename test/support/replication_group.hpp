#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace holdfast::test {

/// A master and its replicas, real servers on ports that the kernel chose; server 0 is the master.
/// All follow it, and acknowledge what it writes, when the constructor returns.
///
/// Thread safety and errors: as of redis_server; also std::runtime_error where a replica does not
/// get there.
class replication_group {
  public:
    explicit replication_group(std::size_t replicas = 2, const redis_options& how = {});

    [[nodiscard]] std::size_t size() const { return servers_.size(); }
    [[nodiscard]] redis_server& server(std::size_t which) { return *servers_[which]; }
    [[nodiscard]] redis_server& master() { return server(0); }

    /// Makes one of them follow another, and waits until it does.
    void follow(std::size_t replica, std::size_t master);
    /// The same by way of another port, as of a proxy.
    void follow_address(std::size_t replica, std::uint16_t port);
    /// Makes it a master, followed by nobody else than before.
    void promote(std::size_t which);
    /// Waits until so many replicas acknowledge what that one writes.
    void await_acknowledgement(std::size_t by, std::size_t replicas);

  private:
    std::vector<std::unique_ptr<redis_server>> servers_;
};

}  // namespace holdfast::test
