#include "net/redirect.hpp"

#include <charconv>

namespace holdfast::net {
namespace {

// `3999 127.0.0.1:6381`, `3999 ::1:6381`, `3999 :6381`
redirection to_place(redirection::kind what, std::string_view text) {
    const auto space = text.find(' ');
    if (space == text.npos) return {};
    const auto place = text.substr(space + 1, text.find_first_of(" \r\n", space + 1) - space - 1);
    const auto colon = place.rfind(':');
    if (colon == place.npos) return {};
    const auto digits = place.substr(colon + 1);
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) return {};
    const auto host = place.substr(0, colon);
    return {what, host == "?" ? std::string() : std::string(host), port};
}

}  // namespace

bool says_redirected(std::string_view error) {
    return error.starts_with("MOVED ") || error.starts_with("ASK ") ||
           error.starts_with("TRYAGAIN") || error.starts_with("CLUSTERDOWN");
}

redirection read_redirection(std::string_view reply) {
    if (!reply.starts_with('-')) return {};
    reply.remove_prefix(1);
    if (reply.starts_with("MOVED ")) return to_place(redirection::kind::moved, reply.substr(6));
    if (reply.starts_with("ASK ")) return to_place(redirection::kind::ask, reply.substr(4));
    if (reply.starts_with("TRYAGAIN")) return {.what = redirection::kind::try_again};
    if (reply.starts_with("CLUSTERDOWN")) return {.what = redirection::kind::cluster_down};
    return {};
}

}  // namespace holdfast::net
