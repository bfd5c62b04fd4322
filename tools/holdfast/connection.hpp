#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "holdfast/options.hpp"

namespace holdfast::tool {

/// Where the servers are and who we are to them, as given on the command line and in the
/// environment.
///
/// URLs: --url, else HOLDFAST_URL, else REDIS_URL, else `local:`, which is said on standard error.
/// Password: in a URL of the environment, else --password-file, else REDISCLI_AUTH. Never in an
/// option's value, because every user of the machine can read those.
class connection {
  public:
    void declare(command_line& line);

    /// What the library needs, with `local:` replaced by a server that runs. One server waits for
    /// nobody's longest ttl, so any `ttl` is allowed there; a quorum keeps the library's bound.
    [[nodiscard]] options settings(std::optional<std::chrono::milliseconds> ttl = {}) const;

  private:
    [[nodiscard]] std::vector<std::string> urls() const;
    [[nodiscard]] std::string password() const;

    std::vector<std::string> given_urls_;
    std::string user_, password_file_, prefix_;
    std::string authority_file_, certificate_file_, key_file_, server_name_;
    bool insecure_ = false;
    bool allow_eviction_ = false;
};

}  // namespace holdfast::tool
