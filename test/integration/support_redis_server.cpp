#include "support/redis_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/eventually.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

TEST(support_raw_client, reads_every_type_of_reply) {
    redis_server server;
    raw_client client = raw_client::connect_tcp(server.port());
    EXPECT_EQ(to_string(client.command({"SET", "binary", std::string{"a\r\n\0b", 5}})), "OK");
    EXPECT_EQ(client.command({"GET", "binary"}).text, (std::string{"a\r\n\0b", 5}));
    EXPECT_TRUE(client.command({"GET", "absent"}).is_nil());
    EXPECT_EQ(client.command({"INCRBY", "counter", "-5"}).integer, -5);
    EXPECT_TRUE(client.command({"NONSENSE"}).is_error());
    const reply list = client.command({"MGET", "counter", "absent"});
    ASSERT_EQ(list.elements.size(), 2U);
    EXPECT_EQ(to_string(list), "-5\n(nil)");

    const reply hello = client.command({"HELLO", "3"});
    EXPECT_EQ(hello.elements.at(0).text, "server");
    client.command({"CLIENT", "TRACKING", "ON"});
    client.command({"GET", "counter"});
    server.command({"DEL", "counter"});
    const reply push = client.read_reply();
    EXPECT_EQ(push.type, reply::kind::push);
    EXPECT_EQ(to_string(push), "invalidate\ncounter");
}

TEST(support_redis_server, answers_on_tcp_and_on_its_unix_socket) {
    redis_server server;
    raw_client over_tcp = raw_client::connect_tcp(server.port());
    raw_client over_unix = raw_client::connect_unix(server.socket_path());
    EXPECT_EQ(to_string(over_tcp.command({"SET", "key", "value", "PX", "60000"})), "OK");
    EXPECT_EQ(over_unix.command({"GET", "key"}).text, "value");

    EXPECT_EQ(server.get("key"), "value");
    EXPECT_EQ(server.get("other"), std::nullopt);
    EXPECT_TRUE(server.exists("key"));
    EXPECT_FALSE(server.exists("other"));
    EXPECT_GT(server.pttl("key"), 50000);
    EXPECT_EQ(server.pttl("other"), -2);
    EXPECT_THROW(server.command({"INCR", "key"}), std::runtime_error);
    EXPECT_EQ(server.url(), "redis://127.0.0.1:" + std::to_string(server.port()));
    EXPECT_EQ(server.unix_url(), "unix://" + server.socket_path().native());
}

// A quorum of five servers takes five of five programs.
TEST(support_redis_server, takes_several_programs_in_turn) {
    const scratch_directory directory{"programs"};
    redis_options options;
    for (const char* frequency : {"11", "12", "13"}) {
        const auto program = directory / frequency;
        std::ofstream{program} << "#!/bin/sh\nexec redis-server \"$@\" --hz " << frequency << '\n';
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        options.program += (options.program.empty() ? "" : ":") + program.native();
    }
    std::deque<redis_server> servers;
    std::vector<std::string> seen;
    for (int n = 0; n < 6; ++n) {
        seen.push_back(servers.emplace_back(options).command({"CONFIG", "GET", "hz"}));
    }
    EXPECT_EQ((std::set<std::string>{seen.begin(), seen.begin() + 3}.size()), 3U);
    EXPECT_TRUE(std::equal(seen.begin(), seen.begin() + 3, seen.begin() + 3));
}

TEST(support_redis_server, two_servers_are_independent) {
    redis_server one, two;
    EXPECT_NE(one.port(), two.port());
    one.command({"SET", "key", "one"});
    EXPECT_FALSE(two.exists("key"));
}

TEST(support_redis_server, refuses_connections_while_killed_and_returns_on_the_same_port) {
    redis_server server;
    const auto port = server.port();
    server.command({"SET", "key", "value"});
    raw_client client = raw_client::connect_tcp(port);

    server.kill_hard();
    EXPECT_FALSE(server.running());
    EXPECT_THROW(client.command({"PING"}), std::runtime_error);
    EXPECT_THROW(raw_client::connect_tcp(port), std::runtime_error);

    server.start();
    EXPECT_EQ(server.port(), port);
    EXPECT_EQ(to_string(raw_client::connect_tcp(port).command({"PING"})), "PONG");
    EXPECT_FALSE(server.exists("key"));
}

TEST(support_redis_server, a_restart_keeps_or_loses_the_data_as_asked) {
    redis_server server;
    const auto port = server.port();
    server.command({"SET", "key", "value"});

    server.restart(data::kept);
    EXPECT_EQ(server.get("key"), "value");
    EXPECT_EQ(to_string(raw_client::connect_tcp(port).command({"PING"})), "PONG");

    server.restart(data::lost);
    EXPECT_FALSE(server.exists("key"));
}

TEST(support_redis_server, a_kill_after_a_kept_restart_still_loses_the_data) {
    redis_server server;
    server.command({"SET", "key", "value"});
    server.restart(data::kept);
    server.kill_hard();
    server.restart(data::kept);
    EXPECT_FALSE(server.exists("key"));
}

TEST(support_redis_server, an_append_only_server_keeps_its_data_through_a_kill) {
    redis_server server{{.append_only = true}};
    server.command({"SET", "key", "value"});
    server.kill_hard();
    server.restart(data::kept);
    EXPECT_EQ(server.get("key"), "value");
    server.restart(data::kept);
    EXPECT_EQ(server.get("key"), "value");
    server.restart(data::lost);
    EXPECT_FALSE(server.exists("key"));
}

TEST(support_redis_server, a_paused_server_accepts_and_stays_silent_until_resumed) {
    redis_server server;
    server.pause();
    raw_client client = raw_client::connect_tcp(server.port(), 50ms);
    client.send({"PING"});
    EXPECT_THROW(client.read_reply(), std::runtime_error);
    server.resume();
    EXPECT_EQ(to_string(raw_client::connect_tcp(server.port()).command({"PING"})), "PONG");
}

TEST(support_redis_server, a_paused_server_can_be_stopped_killed_and_restarted) {
    redis_server server;
    server.pause();
    server.stop();
    server.start();
    server.pause();
    server.kill_hard();
    server.start();
    server.pause();
    server.restart(data::kept);
    EXPECT_EQ(server.command({"PING"}), "PONG");
}

TEST(support_redis_server, survives_the_thread_that_restarted_it) {
    redis_server server;
    std::thread{[&] { server.restart(data::lost); }}.join();
    EXPECT_EQ(server.command({"PING"}), "PONG");
    EXPECT_TRUE(server.running());
}

TEST(support_redis_server, queries_pass_by_passwords_and_access_rules) {
    redis_server server{
        {.configuration = {"user limited on >secret ~app:* +get"}, .password = "open sesame"}};
    raw_client client = raw_client::connect_tcp(server.port());
    EXPECT_EQ(client.command({"PING"}).text.substr(0, 6), "NOAUTH");
    EXPECT_EQ(to_string(client.command({"AUTH", "limited", "secret"})), "OK");
    EXPECT_EQ(client.command({"GET", "other"}).text.substr(0, 6), "NOPERM");
    EXPECT_EQ(to_string(client.command({"AUTH", "open sesame"})), "OK");
    EXPECT_EQ(server.command({"SET", "other", "value"}), "OK");
}

TEST(support_redis_server, extra_configuration_wins) {
    redis_server server{{.configuration = {"appendfsync no", "maxmemory-policy allkeys-lru"}}};
    EXPECT_EQ(server.command({"CONFIG", "GET", "appendfsync"}), "appendfsync\nno");
    EXPECT_EQ(server.command({"CONFIG", "GET", "maxmemory-policy"}),
              "maxmemory-policy\nallkeys-lru");
}

TEST(support_redis_server, a_server_that_does_not_start_says_why) {
    try {
        redis_server server{{.configuration = {"no-such-directive yes"}}};
        FAIL() << "it started";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string{error.what()}.find("no-such-directive"), std::string::npos)
            << error.what();
    }
}

/// Of Redis, or of the one that another product follows.
int major_version() {
    const auto said = redis_server{}.command({"INFO", "server"});
    return std::stoi(said.substr(said.find("redis_version:") + 14));
}

TEST(support_redis_server, a_cluster_of_one_serves_all_slots) {
    if (major_version() < 7) GTEST_SKIP() << "the bus port cannot be chosen";
    redis_server server{{.cluster = true}};
    server.command({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    EXPECT_TRUE(eventually(10s, [&] {
        return server.command({"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos;
    }));
    EXPECT_EQ(server.command({"SET", "key", "value"}), "OK");
}

TEST(support_redis_server, a_sentinel_watches_a_master) {
    if (major_version() < 7) GTEST_SKIP() << "a sentinel has no users";
    redis_server master;
    redis_server sentinel{{.configuration = {"sentinel monitor main 127.0.0.1 " +
                                             std::to_string(master.port()) + " 1"},
                           .arguments = {"--sentinel"}}};
    EXPECT_EQ(sentinel.command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"}),
              "127.0.0.1\n" + std::to_string(master.port()));
}

}  // namespace
}  // namespace holdfast::test
