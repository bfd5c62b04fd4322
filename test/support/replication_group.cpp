#include "support/replication_group.hpp"

#include <stdexcept>

#include "support/acknowledgement.hpp"
#include "support/eventually.hpp"

namespace holdfast::test {
namespace {

constexpr std::chrono::seconds patience{20};

// Replicas need not wait for others that might come, nor try for a second after each failure.
redis_options prompt(redis_options how) {
    how.configuration.emplace_back("repl-diskless-sync-delay 0");
    return how;
}

}  // namespace

replication_group::replication_group(std::size_t replicas, const redis_options& how) {
    for (std::size_t n = 0; n <= replicas; ++n) {
        servers_.push_back(std::make_unique<redis_server>(prompt(how)));
    }
    for (std::size_t n = 1; n <= replicas; ++n) follow(n, 0);
    await_acknowledgement(0, replicas);
}

void replication_group::await_acknowledgement(std::size_t by, std::size_t replicas) {
    test::await_acknowledgement(server(by), replicas);
}

void replication_group::follow(std::size_t replica, std::size_t master) {
    follow_address(replica, server(master).port());
}

void replication_group::follow_address(std::size_t replica, std::uint16_t port) {
    server(replica).command({"REPLICAOF", "127.0.0.1", std::to_string(port)});
    const bool up = eventually(patience, [&] {
        const auto said = server(replica).command({"INFO", "replication"});
        return said.find("master_link_status:up") != said.npos;
    });
    if (!up) throw std::runtime_error("a replica does not follow:\n" + server(replica).log());
}

void replication_group::promote(std::size_t which) {
    server(which).command({"REPLICAOF", "NO", "ONE"});
}

}  // namespace holdfast::test
