#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "net/endpoint.hpp"

namespace holdfast::net {

inline constexpr std::size_t max_url_length = 4096;
inline constexpr std::size_t max_socket_path_length = 107;  // sun_path, less its final NUL
inline constexpr unsigned max_database = 2'147'483'647;
inline constexpr std::size_t max_sentinels = 15;

/// One of the hosts in the URL of a Cluster.
struct host_and_port {
    std::string host{};
    std::uint16_t port = endpoint{}.port;

    bool operator==(const host_and_port&) const = default;
};

struct parsed_url {
    endpoint where;
    /// The caller's query parameters, decoded, in the order of the URL, each at most once.
    std::vector<std::pair<std::string, std::string>> parameters;
    bool cluster = false;                // `where` is the first of the seeds
    std::vector<host_and_port> seeds{};  // of a Cluster: in the order of the URL

    bool operator==(const parsed_url&) const = default;
};

/// What is wrong with a URL, at which character, and how to write it instead.
///
/// The message may be shown and logged: it never quotes what stands between "//" and "@", nor any
/// other part where a mistyped URL might hold a password. It says "at character N" instead. What it
/// does quote: an unknown scheme, the name of a query parameter, and a `host:port` given without
/// a scheme.
struct url_error {
    std::string message;
    std::size_t position = 0;  ///< of the offending character, from 0; the message counts from 1
};

/// Whether the URL, whatever else is wrong with it, is that of a Cluster.
bool is_of_cluster(std::string_view url);

/// Reads the address of one server, those of the Sentinels that watch it, or those of some servers
/// of a Cluster.
///
///   redis://[user][:password]@host[:port][/database]     also with ?db=N instead of /database
///   rediss://...                                         the same over TLS
///   unix://[[user][:password]@]/path/to/socket[?db=N]
///   redis+cluster://[user][:password]@host[:port],...    seeds: any of them tells of the others;
///   rediss+cluster://...                                 no database but 0
///   redis+sentinel://[user][:password]@host[:port],.../master-name[/database]
///   rediss+sentinel://...                                the same over TLS, for both
///
/// - The scheme may be in either case, and `valkey` and `valkeys` stand for `redis` and `rediss`.
///   `local:` belongs to the command line, and gets an error that says so.
/// - In a Sentinel URL the credentials are those of the servers; those of
///   the Sentinels are the parameters `sentinel_user` and `sentinel_password`.
/// - Everything after the scheme is percent-decoded, once; a '+' is a '+'. The password may hold
///   any byte. In a host or path, control characters are refused even when encoded: they
///   would end up in messages and, as NUL, cut a name short.
/// - In the user and the password, "/ ? # @ %" must be encoded, and in the user ':' too.
/// - IPv6 addresses stand in brackets, with an optional zone: `[fe80::1%25eth0]`.
/// - A query parameter other than these and `db` must be one of `known_parameters`, and none may be
/// repeated.
///   Their values are for the caller to judge.
///
/// Thread safety: a pure function. Errors: only by value; may throw std::bad_alloc.
std::variant<parsed_url, url_error> parse_url(
    std::string_view text, std::span<const std::string_view> known_parameters = {});

}  // namespace holdfast::net
