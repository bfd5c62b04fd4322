#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::net {

/// How a TLS connection proves who is at each end. Empty file names mean: the system's authorities,
/// and no client certificate.
struct tls_settings {
    std::string ca_file{};
    std::string certificate_file{};
    std::string key_file{};
    std::string server_name{};  ///< sent as SNI and verified; empty: the endpoint's host
    bool verify = true;

    bool operator==(const tls_settings&) const = default;
};

/// A master that Sentinels watch, and where they are asked for it. Both speak TLS, or neither does.
struct sentinel_group {
    struct address {
        std::string host{};  ///< as of endpoint
        std::uint16_t port = 26379;

        bool operator==(const address&) const = default;
    };

    std::vector<address> addresses{};
    std::string master_name{};
    std::string user{};  ///< of the Sentinels themselves; those of the servers are the endpoint's
    std::string password{};

    bool operator==(const sentinel_group&) const = default;
};

/// `127.0.0.1:6379`, `[::1]:6379`.
inline std::string address_text(const std::string& host, std::uint16_t port) {
    const bool is_ipv6 = host.find(':') != std::string::npos;
    return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

/// Where one server listens and how to introduce oneself there. A plain value; every member has an
/// initializer, so that GCC lets designated initializers leave it out without a warning.
struct endpoint {
    enum class transport_kind : std::uint8_t { tcp, unix_socket };

    transport_kind transport = transport_kind::tcp;
    /// tcp: a name or an address; IPv6 without brackets, zone after '%'. With `sentinels` those of
    /// the first of them, until they have said where the server is.
    std::string host{};
    std::uint16_t port = 6379;
    std::string path{};  ///< unix_socket: absolute
    bool tls = false;
    tls_settings tls_options{};
    std::string user{};
    std::string password{};
    unsigned database = 0;
    std::optional<sentinel_group> sentinels{};  ///< to be asked where the server is

    /// What messages call it: `127.0.0.1:6379`, `[::1]:6379`, `unix:/run/redis.sock`; as long as
    /// only the Sentinels are known, `mymaster of 127.0.0.1:26379`, by the first of them.
    /// Never contains the user or the password.
    std::string name() const {
        if (sentinels) return sentinels->master_name + " of " + address_text(host, port);
        if (transport == transport_kind::unix_socket) return "unix:" + path;
        return address_text(host, port);
    }

    bool operator==(const endpoint&) const = default;
};

}  // namespace holdfast::net
