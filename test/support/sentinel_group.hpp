#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace holdfast::test {

struct sentinel_group_options {
    std::size_t replicas = 2;
    std::size_t sentinels = 3;
    std::string master_name = "main";
    std::chrono::milliseconds down_after{500};
    redis_options servers{};          // their password, too
    std::string sentinel_password{};  // of the default user
    std::optional<tls_files> tls{};   // for servers and Sentinels, and between them
};

/// A master, replicas, and Sentinels that watch them: all real, each with its own scratch directory
/// and port. When the constructor returns, every Sentinel knows the master, all replicas and all
/// other Sentinels, and every replica has what the master has.
///
/// The Sentinels look ten times a second, and talk twice, so that tests do not wait for their usual
/// seconds.
///
/// Thread safety: as of redis_server.
/// Errors: std::runtime_error.
class sentinel_group {
  public:
    explicit sentinel_group(sentinel_group_options options = {});

    [[nodiscard]] std::size_t size() const { return servers_.size(); }
    [[nodiscard]] redis_server& server(std::size_t n) { return servers_[n]; }
    [[nodiscard]] std::size_t sentinels() const { return sentinels_.size(); }
    [[nodiscard]] redis_server& sentinel(std::size_t n) { return sentinels_[n]; }
    [[nodiscard]] const redis_server& sentinel(std::size_t n) const { return sentinels_[n]; }

    /// All Sentinels, without a password: "redis+sentinel://127.0.0.1:1,127.0.0.1:2/main".
    [[nodiscard]] std::string url() const;
    [[nodiscard]] const std::string& master_name() const { return options_.master_name; }

    /// Which server a Sentinel names now.
    [[nodiscard]] std::size_t named_by(std::size_t sentinel) const;
    /// The same, by the first Sentinel that runs.
    [[nodiscard]] std::size_t master() const;

    /// One more follows the first server, which has to be the master. All Sentinels know it, and it
    /// has what the master has, when this returns.
    void add_replica();

    /// Whoever comes to a server from now on, or comes again, is turned away; connections that are
    /// there stay. Those of the Sentinels are ended, or those of its replicas.
    void turn_away(std::size_t server);
    void cut_off_from_sentinels(std::size_t server);
    void cut_off_from_replicas(std::size_t server);
    void admit_again(std::size_t server);

    /// Asks for a fail-over, which only begins when this returns.
    void fail_over();
    /// Waits until all Sentinels that run name another master than `before`. Returns it.
    std::size_t wait_for_another(std::size_t before);
    /// Waits until all servers run, and all but one follow that one and acknowledge what it writes.
    void wait_until_whole();
    /// Waits until `replica` has what `of` has.
    void wait_until_synchronous(std::size_t replica, std::size_t of);

  private:
    [[nodiscard]] std::uint16_t port_of(const redis_server& which) const;
    [[nodiscard]] redis_options server_options(bool replica) const;
    [[nodiscard]] redis_options sentinel_options() const;
    void settle();
    [[nodiscard]] bool settled() const;

    sentinel_group_options options_;
    std::deque<redis_server> servers_;  // the first master first
    std::deque<redis_server> sentinels_;
};

}  // namespace holdfast::test
