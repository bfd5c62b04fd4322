#pragma once

#include <hiredis/hiredis.h>
#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/server/value.hpp"

/// A redis-server of its own for one test program: in a new directory, on a unix socket.
namespace holdfast::sim {

class real_server {
  public:
    /// With further options of redis-server: {"--databases", "1"}.
    explicit real_server(const std::vector<std::string>& options = {});
    /// A Sentinel, which watches a master of that name where there is none.
    struct sentinel_of {
        std::string name;
    };
    explicit real_server(const sentinel_of& master);
    ~real_server();
    real_server(const real_server&) = delete;
    real_server& operator=(const real_server&) = delete;

    /// Sends all commands in one write and returns their answers.
    std::vector<value> execute(std::span<const std::vector<std::string>> commands);

    [[nodiscard]] std::string socket() const { return (directory_ / "socket").string(); }

    /// Takes from it where it would keep its data. Who is connected stays so.
    void lose_directory() const { std::filesystem::remove_all(directory_); }

  private:
    struct closer {
        void operator()(redisContext* c) const { redisFree(c); }
    };

    void wait_until_it_answers(const std::string& socket);

    std::filesystem::path directory_;
    pid_t process_ = -1;
    std::unique_ptr<redisContext, closer> connection_;
};

}  // namespace holdfast::sim
