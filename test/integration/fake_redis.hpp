#pragma once

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

}  // namespace holdfast::test
