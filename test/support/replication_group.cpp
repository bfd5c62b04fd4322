#include "support/replication_group.hpp"

#include <stdexcept>

#include "support/eventually.hpp"
#include "support/raw_client.hpp"

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

// A replica that is said to be online may not be sent anything for up to a second more.
void replication_group::await_acknowledgement(std::size_t by, std::size_t replicas) {
    auto asks = raw_client::connect_tcp(server(by).port());
    const bool all = eventually(patience, [&] {
        (void)asks.command({"SET", "holdfast:test:acknowledged", "1", "PX", "1000"});
        const auto count = asks.command({"WAIT", std::to_string(replicas), "100"}).integer;
        return count >= static_cast<std::int64_t>(replicas);
    });
    if (!all) throw std::runtime_error("not all replicas acknowledge:\n" + server(by).log());
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
