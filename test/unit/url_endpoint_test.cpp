#include <gtest/gtest.h>

#include "net/endpoint.hpp"

namespace {

using holdfast::net::endpoint;

endpoint with_secrets(endpoint where) {
    where.user = "alice";
    where.password = "hunter2";
    return where;
}

TEST(endpoint, is_called_by_host_and_port) {
    EXPECT_EQ(endpoint{.host = "127.0.0.1"}.name(), "127.0.0.1:6379");
    EXPECT_EQ((endpoint{.host = "db.example", .port = 7000}.name()), "db.example:7000");
}

TEST(endpoint, puts_an_ipv6_address_in_brackets) {
    EXPECT_EQ(endpoint{.host = "::1"}.name(), "[::1]:6379");
    EXPECT_EQ((endpoint{.host = "fe80::1%eth0", .port = 1}.name()), "[fe80::1%eth0]:1");
}

TEST(endpoint, is_called_by_the_path_of_its_socket) {
    const endpoint where{.transport = endpoint::transport_kind::unix_socket, .path = "/run/r.sock"};
    EXPECT_EQ(where.name(), "unix:/run/r.sock");
}

TEST(endpoint, never_names_its_user_or_password) {
    EXPECT_EQ(with_secrets({.host = "h", .tls = true}).name(), "h:6379");
    EXPECT_EQ(
        with_secrets({.transport = endpoint::transport_kind::unix_socket, .path = "/s"}).name(),
        "unix:/s");
}

TEST(endpoint, verifies_certificates_unless_told_otherwise) {
    EXPECT_TRUE(endpoint{}.tls_options.verify);
}

}  // namespace
