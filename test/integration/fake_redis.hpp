#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "support/hostile_server.hpp"

namespace holdfast::test {

inline bool asks(std::string_view command, std::string_view word) {
    return command.find("\r\n" + std::string(word) + "\r\n") != command.npos;
}

/// A server that behaves during the handshake, as version 2 of the protocol has it, and says what
/// it is told to all else.
inline hostile_behaviour fake_redis(std::function<std::string(std::string_view)> answer) {
    hostile_behaviour behaviour;
    behaviour.answer = [answer](std::string_view command, int) -> std::string {
        if (asks(command, "HELLO")) return "-NOPROTO unsupported protocol version\r\n";
        if (asks(command, "INFO")) return "$13\r\nrole:master\r\n\r\n";
        if (asks(command, "CONFIG")) return "*0\r\n";
        if (asks(command, "CLIENT") || asks(command, "SCRIPT")) return "+OK\r\n";
        return answer(command);
    };
    return behaviour;
}

inline hostile_behaviour fake_redis(std::string answer) {
    return fake_redis([answer](std::string_view) { return answer; });
}

/// A Sentinel that says of every master that it is there, and has so many replicas.
inline hostile_behaviour sentinel_naming(std::uint16_t port, std::size_t replicas = 1) {
    hostile_behaviour behaviour;
    behaviour.answer = [port, replicas](std::string_view command, int) -> std::string {
        const auto bulk = [](const std::string& text) {
            return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
        };
        if (asks(command, "HELLO")) return "%1\r\n" + bulk("mode") + bulk("sentinel");
        if (asks(command, "INFO")) return bulk("redis_mode:sentinel\r\n");
        if (asks(command, "SUBSCRIBE")) {
            return ">3\r\n" + bulk("subscribe") + bulk("+switch-master") + ":1\r\n";
        }
        if (asks(command, "GET-MASTER-ADDR-BY-NAME")) {
            return "*2\r\n" + bulk("127.0.0.1") + bulk(std::to_string(port));
        }
        if (asks(command, "MASTER")) {
            return "%1\r\n" + bulk("num-slaves") + bulk(std::to_string(replicas));
        }
        return "+OK\r\n";
    };
    return behaviour;
}

}  // namespace holdfast::test
