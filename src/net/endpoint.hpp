#pragma once

#include <cstdint>
#include <string>

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

/// Where one server listens and how to introduce oneself there. A plain value; every member has an
/// initializer, so that GCC lets designated initializers leave it out without a warning.
struct endpoint {
    enum class transport_kind : std::uint8_t { tcp, unix_socket };

    transport_kind transport = transport_kind::tcp;
    std::string host{};  ///< tcp: a name or an address; IPv6 without brackets, zone after '%'
    std::uint16_t port = 6379;
    std::string path{};  ///< unix_socket: absolute
    bool tls = false;
    tls_settings tls_options{};
    std::string user{};
    std::string password{};
    unsigned database = 0;

    /// What messages call it: `127.0.0.1:6379`, `[::1]:6379`, `unix:/run/redis.sock`.
    /// Never contains the user or the password.
    std::string name() const {
        if (transport == transport_kind::unix_socket) return "unix:" + path;
        const bool is_ipv6 = host.find(':') != std::string::npos;
        return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
    }

    bool operator==(const endpoint&) const = default;
};

}  // namespace holdfast::net
