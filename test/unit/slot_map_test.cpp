#include "net/slot_map.hpp"

#include <gtest/gtest.h>

#include "net/redirect.hpp"

namespace holdfast::net {
namespace {

using kind = redirection::kind;

const char* const two_masters =
    "*2\r\n"
    "*4\r\n:0\r\n:8191\r\n"
    "*4\r\n$9\r\n127.0.0.1\r\n:7000\r\n$2\r\nid\r\n*0\r\n"
    "*3\r\n$9\r\n127.0.0.1\r\n:7003\r\n$2\r\nre\r\n"
    "*3\r\n:8192\r\n:16000\r\n"
    "*3\r\n_\r\n:7001\r\n$2\r\nii\r\n";

TEST(slot_map, says_who_serves_a_slot) {
    const auto read = slot_map::read(resp::view(two_masters), "seed");
    ASSERT_TRUE(std::holds_alternative<slot_map>(read));
    const auto& map = std::get<slot_map>(read);
    ASSERT_EQ(map.masters().size(), 2U);
    EXPECT_EQ(map.masters()[0].host, "127.0.0.1");
    EXPECT_EQ(map.masters()[0].port, 7000);
    EXPECT_EQ(map.masters()[0].replicas, 1U);
    EXPECT_EQ(map.masters()[1].host, "seed") << "it does not know its own";
    EXPECT_EQ(map.owner_of(0), 0U);
    EXPECT_EQ(map.owner_of(8191), 0U);
    EXPECT_EQ(map.owner_of(8192), 1U);
    EXPECT_EQ(map.owner_of(16001), std::nullopt);
    EXPECT_EQ(map.covered(), 16001U);
    EXPECT_EQ(map.served_by(0), 8192U);
}

TEST(slot_map, believes_a_server_that_names_another_one) {
    auto map = std::get<slot_map>(slot_map::read(resp::view(two_masters), "seed"));
    map.moved(5, "127.0.0.1", 7009);
    map.moved(6, "seed", 7001);
    EXPECT_EQ(map.owner_of(5), 2U);
    EXPECT_EQ(map.owner_of(6), 1U) << "one that it knows";
    EXPECT_EQ(map.owner_of(7), 0U);
}

TEST(slot_map, is_not_read_from_what_is_none) {
    for (const auto* reply : {"-ERR This instance has cluster support disabled\r\n", "+OK\r\n",
                              "*1\r\n:1\r\n", "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n",
                              "*1\r\n*3\r\n:9\r\n:8\r\n*2\r\n$1\r\na\r\n:1\r\n",
                              "*1\r\n*3\r\n:0\r\n:8\r\n*2\r\n$1\r\na\r\n:70000\r\n"}) {
        EXPECT_TRUE(std::holds_alternative<failure>(slot_map::read(resp::view(reply), "h")))
            << reply;
    }
    EXPECT_EQ(std::get<slot_map>(slot_map::read(resp::view("*0\r\n"), "h")).covered(), 0U);
}

// Redis 7.0.15, RESP2, shortened: a shard of three, one of which is down; what is left of one whose
// master was replaced; and a master that has no slots yet.
std::string shards() {
    const auto text = [](const std::string& word) {
        return "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    };
    const auto member = [&](const std::string& id, int port, const std::string& health) {
        return "*8\r\n" + text("id") + text(id) + text("port") + ":" + std::to_string(port) +
               "\r\n" + text("endpoint") + text("10.0.0.1") + text("health") + text(health);
    };
    return "*3\r\n*4\r\n" + text("slots") + "*2\r\n:0\r\n:16383\r\n" + text("nodes") + "*3\r\n" +
           member("a", 1, "online") + member("b", 2, "online") + member("c", 3, "fail") + "*4\r\n" +
           text("slots") + "*0\r\n" + text("nodes") + "*1\r\n" + member("d", 4, "fail") + "*4\r\n" +
           text("slots") + "*0\r\n" + text("nodes") + "*1\r\n" + member("e", 5, "online");
}

TEST(slot_map, knows_how_many_servers_a_shard_has_with_those_that_are_down) {
    slot_map map;
    const auto reply = shards();
    map.read_sizes(resp::view(reply), "asked");
    const shard_size three{.at_least = 3, .at_most = 4};  // a master that was replaced is in none
    EXPECT_EQ(map.size_around({.host = "10.0.0.1", .port = 1, .id = {}}), three);
    EXPECT_EQ(map.size_around({.host = "by another name", .port = 9, .id = "a"}), three);
    EXPECT_EQ(map.size_around({.host = "10.0.0.1", .port = 2, .id = {}}), three);
    const shard_size alone{.at_least = 1, .at_most = 2};
    EXPECT_EQ(map.size_around({.host = "10.0.0.1", .port = 5, .id = {}}), alone);
    EXPECT_EQ(map.size_around({.host = "10.0.0.1", .port = 6, .id = {}}), shard_size{});
}

TEST(slot_map, knows_no_sizes_where_they_are_not_told) {
    slot_map map;
    for (const auto* reply : {"-ERR Unknown subcommand\r\n", "+OK\r\n", "*1\r\n:1\r\n", "*0\r\n",
                              "*1\r\n*2\r\n$5\r\nnodes\r\n*0\r\n"}) {
        map.read_sizes(resp::view(reply), "asked");
        EXPECT_EQ(map.size_around({.host = "asked", .port = 1, .id = {}}), shard_size{}) << reply;
    }
}

TEST(redirection, is_read_from_what_a_node_of_a_cluster_answers) {
    const auto moved = read_redirection("-MOVED 3999 127.0.0.1:6381\r\n");
    EXPECT_EQ(moved.what, kind::moved);
    EXPECT_EQ(moved.host, "127.0.0.1");
    EXPECT_EQ(moved.port, 6381);
    EXPECT_EQ(read_redirection("-ASK 1 ::1:6381\r\n").host, "::1");
    EXPECT_EQ(read_redirection("-ASK 1 ::1:6381\r\n").what, kind::ask);
    EXPECT_EQ(read_redirection("-MOVED 1 :6381\r\n").host, "") << "the host that answered";
    EXPECT_EQ(read_redirection("-TRYAGAIN Multiple keys\r\n").what, kind::try_again);
    EXPECT_EQ(read_redirection("-CLUSTERDOWN Hash slot not served\r\n").what, kind::cluster_down);
    for (const auto* other : {"+MOVED 1 a:1\r\n", "-MOVED\r\n", "-MOVED 1\r\n", "-MOVED 1 a\r\n",
                              "-MOVED 1 a:0\r\n", "-MOVED 1 a:x\r\n", "-ERR\r\n", ":1\r\n"}) {
        EXPECT_EQ(read_redirection(other).what, kind::none) << other;
    }
}

}  // namespace
}  // namespace holdfast::net
