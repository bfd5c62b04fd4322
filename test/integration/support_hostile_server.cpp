#include "support/hostile_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/command_splitter.hpp"
#include "support/eventually.hpp"
#include "support/raw_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::string ping = "*1\r\n$4\r\nPING\r\n";

std::string error_of_ping(const hostile_server& server, std::chrono::milliseconds timeout = 5s) {
    try {
        raw_client client = raw_client::connect_tcp(server.port(), timeout);
        return "answered: " + to_string(client.command({"PING"}));
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

TEST(support_command_splitter, finds_whole_commands_only) {
    EXPECT_EQ(first_command_length(ping + ping), ping.size());
    for (std::size_t size = 0; size < ping.size(); ++size)
        EXPECT_EQ(first_command_length(ping.substr(0, size)), 0U) << size;
    const std::string binary = "*2\r\n$3\r\nGET\r\n$4\r\n\r\n*1\r\n";
    EXPECT_EQ(first_command_length(binary + "*1"), binary.size());
    EXPECT_EQ(first_command_length("PING\r\nPING\r\n"), 6U);
    EXPECT_EQ(first_command_length("*x\r\nrest"), 8U);
}

TEST(support_hostile_server, a_silent_one_reads_and_never_answers) {
    hostile_server server{hostile::silent()};
    raw_client client = raw_client::connect_tcp(server.port(), 50ms);
    client.send({"PING"});
    EXPECT_THROW(client.read_reply(), std::runtime_error);
    EXPECT_TRUE(eventually(std::chrono::seconds{10}, [&] { return server.received(0) == ping; }));
    EXPECT_EQ(server.received(1), "");
    EXPECT_EQ(server.open_connections(), 1U);
}

TEST(support_hostile_server, answers_every_command_the_same_even_pipelined_ones) {
    hostile_server server{hostile::always("+OK\r\n")};
    raw_client client = raw_client::connect_tcp(server.port());
    client.send_raw(ping + ping + ping.substr(0, 5));
    EXPECT_EQ(client.read_reply().text, "OK");
    EXPECT_EQ(client.read_reply().text, "OK");
    client.send_raw(ping.substr(5));
    EXPECT_EQ(client.read_reply().text, "OK");
    EXPECT_EQ(server.received(), ping + ping + ping);
}

TEST(support_hostile_server, talks_garbage) {
    hostile_server server{hostile::garbage()};
    EXPECT_THAT(error_of_ping(server, 200ms), HasSubstr("raw client:"));
}

TEST(support_hostile_server, talks_http) {
    hostile_server server{hostile::web_server()};
    EXPECT_THAT(error_of_ping(server), HasSubstr("HTTP/1.1 400"));
    EXPECT_TRUE(eventually(5s, [&] { return server.open_connections() == 0; }));
}

TEST(support_hostile_server, closes_at_once) {
    hostile_server server{hostile::closes_at_once()};
    EXPECT_THAT(error_of_ping(server), testing::Not(HasSubstr("answered")));
    EXPECT_EQ(server.connections(), 1U);
    EXPECT_EQ(server.open_connections(), 0U);
}

TEST(support_hostile_server, closes_in_mid_reply) {
    hostile_server server{hostile::closes_in_mid_reply("$10\r\n0123456789\r\n", 8)};
    EXPECT_THAT(error_of_ping(server), HasSubstr("closed the connection"));
}

TEST(support_hostile_server, resets_in_mid_reply) {
    hostile_behaviour behaviour = hostile::closes_in_mid_reply("$10\r\n0123456789\r\n", 8);
    behaviour.close_with_reset = true;
    hostile_server server{behaviour};
    EXPECT_THAT(error_of_ping(server), HasSubstr("reset"));
}

TEST(support_hostile_server, trickles_byte_by_byte) {
    hostile_server server{hostile::trickles("+PONG\r\n", 10ms)};
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(error_of_ping(server), "answered: PONG");
    EXPECT_GE(std::chrono::steady_clock::now() - start, 60ms);  // seven bytes, six intervals
}

TEST(support_hostile_server, claims_a_huge_bulk_and_falls_silent) {
    hostile_server server{hostile::claims_huge_bulk()};
    EXPECT_THAT(error_of_ping(server, 50ms), HasSubstr("no reply within"));
}

TEST(support_hostile_server, treats_connections_differently) {
    hostile_server server{{hostile::closes_at_once(), hostile::always("+later\r\n")}};
    EXPECT_THAT(error_of_ping(server), testing::Not(HasSubstr("answered")));
    EXPECT_EQ(error_of_ping(server), "answered: later");
    EXPECT_EQ(error_of_ping(server), "answered: later");
}

TEST(support_hostile_server, answers_by_what_it_received_and_who_asked) {
    hostile_server server{{.answer = [](std::string_view command, int connection) {
        const bool is_ping = command.find("PING") != std::string_view::npos;
        return is_ping ? ":" + std::to_string(connection) + "\r\n" : std::string{"-ERR no\r\n"};
    }}};
    EXPECT_EQ(error_of_ping(server), "answered: 0");
    EXPECT_EQ(error_of_ping(server), "answered: 1");
    EXPECT_TRUE(raw_client::connect_tcp(server.port()).command({"GET", "key"}).is_error());
}

}  // namespace
}  // namespace holdfast::test
