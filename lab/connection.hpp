#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/raw_client.hpp"

namespace holdfast::lab {

/// The plain blocking client that the schemes talk through, as theirs do: one command, one answer
/// or an exception. After an exception the next command connects anew.
class connection {
  public:
    using milliseconds = std::chrono::milliseconds;
    static constexpr milliseconds usual_timeout{2000};  // of clients in other languages, too

    explicit connection(std::uint16_t port, milliseconds timeout = usual_timeout)
        : port_(port), timeout_(timeout) {}

    void open() {
        if (!socket_) socket_ = test::raw_client::connect_tcp(port_, timeout_);
    }

    test::reply command(const std::vector<std::string>& arguments) {
        open();
        try {
            return socket_->command(arguments);
        } catch (...) {
            socket_.reset();
            throw;
        }
    }

    bool ok(const std::vector<std::string>& arguments) { return command(arguments).text == "OK"; }
    std::int64_t integer(const std::vector<std::string>& arguments) {
        return command(arguments).integer;
    }

  private:
    std::uint16_t port_;
    milliseconds timeout_;
    std::optional<test::raw_client> socket_;
};

/// What articles call a UUID: says who, and nobody else has it.
std::string unique_value();

/// EXPIRE and EX count in seconds.
inline std::string in_seconds(std::chrono::milliseconds ttl) {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(ttl).count());
}

inline constexpr auto compare_and_delete =
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) "
    "else return 0 end";

}  // namespace holdfast::lab
