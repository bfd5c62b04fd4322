#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "net/url.hpp"

namespace {

using namespace std::string_literals;
using holdfast::net::endpoint;
using holdfast::net::parse_url;
using holdfast::net::parsed_url;
using holdfast::net::url_error;

constexpr std::array<std::string_view, 3> known{"node_timeout", "max_ttl", "label"};

parsed_url parsed(std::string_view text) {
    auto result = parse_url(text, known);
    if (const auto* error = std::get_if<url_error>(&result)) {
        ADD_FAILURE() << text << ": " << error->message;
        return {};
    }
    return std::get<parsed_url>(std::move(result));
}

endpoint where(std::string_view text) { return parsed(text).where; }

endpoint tcp(std::string host, std::uint16_t port = 6379, unsigned database = 0) {
    return {.host = std::move(host), .port = port, .database = database};
}

endpoint unix_socket(std::string path, unsigned database = 0) {
    return {.transport = endpoint::transport_kind::unix_socket,
            .path = std::move(path),
            .database = database};
}

endpoint with(endpoint to, std::string user, std::string password) {
    to.user = std::move(user);
    to.password = std::move(password);
    return to;
}

endpoint over_tls(endpoint to) {
    to.tls = true;
    return to;
}

TEST(good_url, means_the_same_with_the_schemes_of_valkey) {
    EXPECT_EQ(where("valkey://u:p@h:7001/3"), where("redis://u:p@h:7001/3"));
    EXPECT_EQ(where("valkeys://h"), where("rediss://h"));
    EXPECT_EQ(where("VALKEYS://h"), over_tls(tcp("h")));
}

TEST(good_url, gives_the_sentinels_and_the_name_of_their_master) {
    const auto found = where("redis+sentinel://alice:secret@h1,h2:7000,[::1]:7001/my-master/3");
    ASSERT_TRUE(found.sentinels);
    const auto& group = *found.sentinels;
    ASSERT_EQ(group.addresses.size(), 3U);
    EXPECT_EQ(group.addresses[0].host, "h1");
    EXPECT_EQ(group.addresses[0].port, 26379);
    EXPECT_EQ(group.addresses[1].host, "h2");
    EXPECT_EQ(group.addresses[1].port, 7000);
    EXPECT_EQ(group.addresses[2].host, "::1");
    EXPECT_EQ(group.addresses[2].port, 7001);
    EXPECT_EQ(group.master_name, "my-master");
    EXPECT_EQ(group.user, "");
    EXPECT_EQ(group.password, "");
    EXPECT_EQ(found.user, "alice") << "of the servers";
    EXPECT_EQ(found.password, "secret");
    EXPECT_EQ(found.database, 3U);
    EXPECT_FALSE(found.tls);
    EXPECT_EQ(found.name(), "my-master of h1:26379");
}

TEST(good_url, gives_the_sentinels_their_own_credentials) {
    const auto found = parsed(
        "redis+sentinel://h/main?sentinel_user=watcher&sentinel_password=p%40%26&max_ttl=2s");
    EXPECT_EQ(found.where.sentinels->user, "watcher");
    EXPECT_EQ(found.where.sentinels->password, "p@&");
    EXPECT_EQ(found.where.user, "");
    EXPECT_EQ(found.where.password, "");
    ASSERT_EQ(found.parameters.size(), 1U) << "these are not the client's";
    EXPECT_EQ(found.parameters[0].first, "max_ttl");
}

TEST(good_url, a_sentinel_group_has_forms_for_tls_and_valkey) {
    EXPECT_TRUE(where("rediss+sentinel://h/main").tls);
    EXPECT_EQ(where("valkey+sentinel://h/main"), where("redis+sentinel://h/main"));
    EXPECT_EQ(where("VALKEYS+Sentinel://h/main"), where("rediss+sentinel://h/main"));
}

TEST(good_url, the_name_of_a_master_may_be_encoded_and_the_database_left_out) {
    EXPECT_EQ(where("redis+sentinel://h/my%2Fmaster").sentinels->master_name, "my/master");
    EXPECT_EQ(where("redis+sentinel://h/main/").database, 0U);
    EXPECT_EQ(where("redis+sentinel://h/main?db=4").database, 4U);
}

TEST(good_url, gives_host_port_and_database) {
    EXPECT_EQ(where("redis://localhost"), tcp("localhost"));
    EXPECT_EQ(where("redis://localhost/"), tcp("localhost"));
    EXPECT_EQ(where("redis://127.0.0.1:7001"), tcp("127.0.0.1", 7001));
    EXPECT_EQ(where("redis://my-db_1.example.org:7001/3"), tcp("my-db_1.example.org", 7001, 3));
    EXPECT_EQ(where("redis://h/12"), tcp("h", 6379, 12));
}

TEST(good_url, reaches_the_limits_of_port_and_database) {
    EXPECT_EQ(where("redis://h:1/0"), tcp("h", 1, 0));
    EXPECT_EQ(where("redis://h:65535/2147483647"), tcp("h", 65535, 2147483647));
}

TEST(good_url, takes_the_database_as_a_parameter) {
    EXPECT_EQ(where("redis://h?db=4"), tcp("h", 6379, 4));
    EXPECT_EQ(where("redis://h/?db=4"), tcp("h", 6379, 4));
    EXPECT_EQ(where("rediss://h:1?db=0"), over_tls(tcp("h", 1)));
}

TEST(good_url, asks_for_tls_only_with_rediss) {
    EXPECT_EQ(where("rediss://h:7/1"), over_tls(tcp("h", 7, 1)));
    EXPECT_FALSE(where("redis://h").tls);
    EXPECT_TRUE(where("rediss://h").tls_options.verify);
}

TEST(good_url, may_write_its_scheme_in_either_case) {
    EXPECT_EQ(where("REDIS://h"), tcp("h"));
    EXPECT_EQ(where("RedisS://h"), over_tls(tcp("h")));
    EXPECT_EQ(where("UNIX:///S"), unix_socket("/S"));
}

TEST(good_url, gives_user_and_password) {
    EXPECT_EQ(where("redis://alice:hunter2@h"), with(tcp("h"), "alice", "hunter2"));
    EXPECT_EQ(where("redis://:hunter2@h:1/2"), with(tcp("h", 1, 2), "", "hunter2"));
    EXPECT_EQ(where("redis://alice@h"), with(tcp("h"), "alice", ""));
    EXPECT_EQ(where("redis://alice:@h"), with(tcp("h"), "alice", ""));
    EXPECT_EQ(where("redis://@h"), tcp("h"));
    EXPECT_EQ(where("redis://:p@[::1]:1"), with(tcp("::1", 1), "", "p"));
}

TEST(good_url, splits_the_password_off_at_the_first_colon) {
    EXPECT_EQ(where("redis://alice:a:b::c@h"), with(tcp("h"), "alice", "a:b::c"));
    EXPECT_EQ(where("redis://a%3Ab:c@h"), with(tcp("h"), "a:b", "c"));
}

TEST(good_url, decodes_percent_escapes_once) {
    EXPECT_EQ(where("redis://a%40b:%2f%3F%23%40%25%20@h"), with(tcp("h"), "a@b", "/?#@% "));
    EXPECT_EQ(where("redis://:%2541@h"), with(tcp("h"), "", "%41"));
    EXPECT_EQ(where("redis://:a%00%ff%0a@h"), with(tcp("h"), "", "a\0\xff\n"s));
    EXPECT_EQ(where("redis://%6cocalhost:63%379/%31"), tcp("localhost", 6379, 1));
    EXPECT_EQ(where("redis://:a+b@h"), with(tcp("h"), "", "a+b"));
}

TEST(good_url, takes_ipv6_addresses_in_brackets) {
    EXPECT_EQ(where("redis://[::1]"), tcp("::1"));
    EXPECT_EQ(where("redis://[::]:7/1"), tcp("::", 7, 1));
    EXPECT_EQ(where("redis://[2001:db8::8:800:200C:417A]"), tcp("2001:db8::8:800:200C:417A"));
    EXPECT_EQ(where("redis://[1:2:3:4:5:6:7:8]"), tcp("1:2:3:4:5:6:7:8"));
    EXPECT_EQ(where("redis://[1:2:3:4:5:6:7::]"), tcp("1:2:3:4:5:6:7::"));
    EXPECT_EQ(where("redis://[::ffff:10.0.0.1]:9"), tcp("::ffff:10.0.0.1", 9));
    EXPECT_EQ(where("redis://[1:2:3:4:5:6:1.2.3.4]"), tcp("1:2:3:4:5:6:1.2.3.4"));
    EXPECT_EQ(where("redis://[fe80::1%25eth0]:1"), tcp("fe80::1%eth0", 1));
    EXPECT_EQ(where("redis://[fe80::1%25eth0.1]?db=2"), tcp("fe80::1%eth0.1", 6379, 2));
}

TEST(good_url, takes_unix_sockets) {
    EXPECT_EQ(where("unix:///run/redis.sock"), unix_socket("/run/redis.sock"));
    EXPECT_EQ(where("unix:///run/redis.sock?db=3"), unix_socket("/run/redis.sock", 3));
    EXPECT_EQ(where("unix:///a%20b/%3F%23.sock"), unix_socket("/a b/?#.sock"));
    EXPECT_EQ(where("unix:///tmp/\xc3\xa4:1,2@x.sock"), unix_socket("/tmp/\xc3\xa4:1,2@x.sock"));
    EXPECT_EQ(where("unix://alice:hunter2@/s?db=1"),
              with(unix_socket("/s", 1), "alice", "hunter2"));
    EXPECT_EQ(where("unix://:p@/a%40b"), with(unix_socket("/a@b"), "", "p"));
}

TEST(good_url, reaches_the_limit_of_a_socket_path) {
    const std::string path = "/" + std::string(106, 'x');
    EXPECT_EQ(where("unix://" + path), unix_socket(path));
    EXPECT_EQ(where("unix:///%78" + path.substr(2)), unix_socket(path)) << "counted when decoded";
}

TEST(good_url, reaches_the_limit_of_length) {
    const std::string password(4096 - "redis://:@h"s.size(), 'p');
    EXPECT_EQ(where("redis://:" + password + "@h"), with(tcp("h"), "", password));
}

TEST(good_url, hands_over_known_parameters_decoded_and_in_order) {
    const auto result = parsed("redis://h/1?max_ttl=5m&l%61bel=a%26b%3D+c%40&node_timeout=");
    EXPECT_EQ(result.where, tcp("h", 6379, 1));
    const decltype(result.parameters) expected{
        {"max_ttl", "5m"}, {"label", "a&b=+c@"}, {"node_timeout", ""}};
    EXPECT_EQ(result.parameters, expected);
}

TEST(good_url, keeps_the_database_out_of_the_parameters) {
    const auto result = parsed("unix:///s?max_ttl=1=2&db=7");
    EXPECT_EQ(result.where, unix_socket("/s", 7));
    const decltype(result.parameters) expected{{"max_ttl", "1=2"}};
    EXPECT_EQ(result.parameters, expected);
}

TEST(good_url, names_the_seeds_of_a_cluster) {
    const auto result = parsed("Redis+Cluster://u:p@h1,h2:7001,[::1]:7002?max_ttl=5m");
    EXPECT_TRUE(result.cluster);
    EXPECT_EQ(result.where, with(tcp("h1"), "u", "p"));
    const decltype(result.seeds) expected{{"h1", 6379}, {"h2", 7001}, {"::1", 7002}};
    EXPECT_EQ(result.seeds, expected);
    EXPECT_FALSE(result.where.tls);
    EXPECT_TRUE(parsed("rediss+cluster://h/0").where.tls);
    EXPECT_EQ(parsed("redis+cluster://h").seeds.size(), 1U);
    EXPECT_EQ(parsed("valkey+cluster://h"), parsed("redis+cluster://h"));
    EXPECT_EQ(parsed("Valkeys+Cluster://h"), parsed("rediss+cluster://h"));
    EXPECT_FALSE(parsed("redis://h").cluster);
    EXPECT_FALSE(parsed("redis+sentinel://h/main").cluster);
}

}  // namespace
