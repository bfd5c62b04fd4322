#include <utility>

#include "support/hostile_server.hpp"

namespace holdfast::test::hostile {

namespace {

hostile_behaviour::answer_function constantly(std::string reply) {
    return [reply = std::move(reply)](std::string_view, int) { return reply; };
}

}  // namespace

hostile_behaviour silent() { return {}; }

hostile_behaviour always(std::string reply) { return {.answer = constantly(std::move(reply))}; }

hostile_behaviour garbage() {
    std::string noise;
    for (unsigned i = 0; i < 4096; ++i)
        noise += static_cast<char>(static_cast<unsigned char>(i * 167U + 0x80U));
    return {.answer = constantly(std::move(noise)),
            .answer_each = hostile_behaviour::occasion::connection};
}

hostile_behaviour web_server() {
    const std::string text =
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
        "400 Bad Request";
    return {.answer = constantly(text),
            .answer_each = hostile_behaviour::occasion::chunk,
            .close_after = text.size()};
}

hostile_behaviour closes_at_once() { return {.close_after = 0}; }

hostile_behaviour closes_in_mid_reply(std::string reply, std::size_t bytes) {
    return {.answer = constantly(std::move(reply)), .close_after = bytes};
}

hostile_behaviour trickles(std::string reply, std::chrono::nanoseconds byte_interval) {
    return {.answer = constantly(std::move(reply)), .byte_interval = byte_interval};
}

hostile_behaviour claims_huge_bulk(std::uint64_t claimed) {
    return always("$" + std::to_string(claimed) + "\r\n");
}

}  // namespace holdfast::test::hostile
