#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "descriptor.hpp"

namespace holdfast::tool {

/// This user's own redis-server on this machine: on a unix socket in a directory that nobody else
/// can enter, without persistence, started on first use and found again by everybody after.
///
/// Whoever starts or stops it holds a lock on a file of the directory, so that many who start at
/// once get one server. A socket that nobody listens on is removed then, and only then.
///
/// Errors: failure with 78 for a directory that cannot be trusted, 69 when there is no redis-server
/// program or it does not come up.
class local_server {
  public:
    /// REQUIRES: no threads yet, because it forks.
    local_server();

    /// Returns the URL of a server that runs, after starting it if need be.
    std::string start() const;

    /// False when none ran.
    bool stop() const;

    /// Its process id, if it runs.
    [[nodiscard]] std::optional<pid_t> running() const;

    [[nodiscard]] const std::string& socket_path() const { return socket_; }
    [[nodiscard]] std::string log_path() const { return directory_ + "/redis.log"; }
    [[nodiscard]] std::string url() const;

  private:
    [[nodiscard]] descriptor connect() const;
    [[nodiscard]] descriptor lock_directory() const;
    void launch() const;
    void wait_until_it_answers(pid_t server) const;
    [[nodiscard]] bool answers() const;

    std::string directory_;
    std::string socket_;
};

}  // namespace holdfast::tool
