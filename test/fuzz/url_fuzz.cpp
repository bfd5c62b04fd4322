// sources: src/net/url.cpp
//
// Any bytes are a URL or an error; an error never depends on what stands between "//" and "@", and
// a URL that was accepted gives an endpoint within the limits of the parser.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "net/url.hpp"

namespace {

using holdfast::net::endpoint;
using holdfast::net::parse_url;
using holdfast::net::parsed_url;
using holdfast::net::url_error;

constexpr std::array<std::string_view, 3> known{"node_timeout", "max_ttl", "label"};

void require(bool holds) {
    if (!holds) std::abort();
}

/// Exchanges letters that are no hexadecimal digits, so that the shape of the URL stays.
std::string with_other_secret(std::string_view given) {
    std::string text{given};
    const auto begin = text.find("//");
    const auto end = text.rfind('@');
    if (begin == std::string::npos || end == std::string::npos) return text;
    for (auto i = begin; i < end; ++i) {
        if (text[i] >= 'g' && text[i] <= 'z') {
            text[i] = text[i] == 'z' ? 'g' : static_cast<char>(text[i] + 1);
        }
    }
    return text;
}

bool is_printable(std::string_view text) {
    for (const char c : text) {
        if (c < ' ' || c > '~') return false;
    }
    return true;
}

void check(const url_error& error, std::string_view text) {
    require(!error.message.empty());
    require(is_printable(error.message));
    require(error.position <= text.size());
    const auto other = parse_url(with_other_secret(text), known);
    require(std::holds_alternative<url_error>(other));
    require(std::get<url_error>(other).message == error.message);
}

void check(const parsed_url& url) {
    const auto& where = url.where;
    require(where.database <= holdfast::net::max_database);
    require(url.parameters.size() <= known.size());
    if (where.transport == endpoint::transport_kind::unix_socket) {
        require(where.path.size() >= 2 && where.path.front() == '/');
        require(where.path.size() <= holdfast::net::max_socket_path_length);
        require(where.path.find('\0') == std::string::npos);
    } else {
        require(!where.host.empty() && where.port != 0);
        require(is_printable(where.name()));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto result = parse_url(text, known);
    if (const auto* error = std::get_if<url_error>(&result)) {
        check(*error, text);
    } else {
        check(std::get<parsed_url>(result));
    }
    return 0;
}
