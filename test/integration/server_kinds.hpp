#pragma once

#include <string>

#include "integration/fake_redis.hpp"
#include "support/redis_server.hpp"

/// Servers that speak the protocol, and are no masters of their own.
namespace holdfast::test {

/// Of Redis, or of the one that another product follows. What the tests of these kinds of servers
/// need, a port for the bus and users of a sentinel, begins with 7.
inline int major_version() {
    const auto said = redis_server{}.command({"INFO", "server"});
    return std::stoi(said.substr(said.find("redis_version:") + 14));
}

inline redis_options sentinel_of(const redis_server& master) {
    return {.configuration = {"sentinel monitor main 127.0.0.1 " + std::to_string(master.port()) +
                              " 1"},
            .arguments = {"--sentinel"}};
}

/// A Redis from before users, RESP3, and scripts that write after they have asked for the time.
inline hostile_behaviour old_redis(const std::string& version) {
    hostile_behaviour behaviour;
    behaviour.answer = [version](std::string_view command, int) -> std::string {
        const std::string info = "redis_version:" + version +
                                 "\r\nredis_mode:standalone\r\nrun_id:0123456789\r\n"
                                 "role:master\r\nmaxmemory_policy:noeviction\r\n";
        if (asks(command, "INFO")) {
            return "$" + std::to_string(info.size()) + "\r\n" + info + "\r\n";
        }
        if (asks(command, "PING")) return "+PONG\r\n";
        if (asks(command, "CLIENT") || asks(command, "SCRIPT")) return "+OK\r\n";
        if (asks(command, "EVAL") || asks(command, "EVALSHA")) {
            return "-ERR Error running script (call to f_0): @user_script:32: Write commands not "
                   "allowed after non deterministic commands\r\n";
        }
        if (asks(command, "GET")) return "$-1\r\n";
        return "-ERR unknown command\r\n";
    };
    return behaviour;
}

}  // namespace holdfast::test
