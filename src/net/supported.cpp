#include "net/supported.hpp"

#include <array>
#include <charconv>
#include <cstddef>

namespace holdfast::net {
namespace {

constexpr std::array<int, 3> oldest{6, 0, 6};

failure unsupported(std::string why) { return {errc::unsafe_server, std::move(why), true}; }

/// Its numbers; what is not there is taken to be new enough, as is what is no number.
std::array<int, 3> numbers_of(std::string_view version) {
    auto numbers = oldest;
    for (int& each : numbers) {
        const auto [end, error] =
            std::from_chars(version.data(), version.data() + version.size(), each);
        version.remove_prefix(static_cast<std::size_t>(end - version.data()));
        if (error != std::errc{} || !version.starts_with('.')) break;
        version.remove_prefix(1);
    }
    return numbers;
}

// Valkey goes on telling the version of the Redis that it descends from. What tells none is taken
// as it is: proxies do that.
bool is_too_old(std::string_view version) { return numbers_of(version) < oldest; }

}  // namespace

std::optional<failure> why_unsupported(const greeting& said, bool clustered) {
    if (said.mode() == "sentinel") {
        return unsupported(
            "is a Sentinel, which keeps no locks; write redis+sentinel://host:port/<master-name> "
            "for the master that it watches");
    }
    if (said.mode() == "cluster" && !clustered) {
        return unsupported(
            "is a node of a Redis Cluster; give the URL of the Cluster, "
            "redis+cluster://host:port,... (rediss+cluster:// with TLS)");
    }
    if (said.mode() == "standalone" && clustered) {
        return unsupported("is no node of a Redis Cluster; for one server the URL is redis://...");
    }
    const auto version = said.field("redis_version");
    if (!is_too_old(version)) return std::nullopt;
    return too_old("Redis " + std::string(version) + " is too old");
}

failure too_old(const std::string& why) {
    return unsupported(why + "; Holdfast needs Redis 6.0.6 or later, or Valkey");
}

}  // namespace holdfast::net
