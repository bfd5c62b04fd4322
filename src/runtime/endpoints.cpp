#include "runtime/endpoints.hpp"

#include <algorithm>
#include <system_error>

#include "core/node_set.hpp"
#include "holdfast/error.hpp"
#include "net/url.hpp"

namespace holdfast::runtime {
namespace {

net::endpoint read(const std::string& url, const options& settings) {
    auto parsed = net::parse_url(url);
    if (const auto* wrong = std::get_if<net::url_error>(&parsed)) {
        throw std::system_error(errc::invalid_url, wrong->message);
    }
    auto where = std::get<net::parsed_url>(std::move(parsed)).where;
    if (where.user.empty()) where.user = settings.user;
    if (where.password.empty()) where.password = settings.password;
    where.tls_options = {.ca_file = settings.tls.ca_file,
                         .certificate_file = settings.tls.certificate_file,
                         .key_file = settings.tls.key_file,
                         .server_name = settings.tls.server_name,
                         .verify = settings.tls.verify};
    return where;
}

void check_count(std::size_t count) {
    if (count > core::max_nodes) {
        throw std::system_error(
            errc::invalid_option,
            std::to_string(count) + " servers are more than " + std::to_string(core::max_nodes));
    }
    if (count % 2 == 0) {
        throw std::system_error(errc::invalid_option,
                                "a quorum of " + std::to_string(count) +
                                    " servers survives no more failures than one of " +
                                    std::to_string(count - 1) + "; give an odd number");
    }
}

void check_distinct(const std::vector<net::endpoint>& endpoints) {
    std::vector<std::string> names;
    for (const auto& where : endpoints) {
        const auto name = where.name();
        if (std::find(names.begin(), names.end(), name) != names.end()) {
            throw std::system_error(errc::invalid_option,
                                    name + " is given twice; the votes must be independent");
        }
        names.push_back(name);
    }
}

}  // namespace

std::vector<net::endpoint> endpoints_of(const options& settings) {
    check_count(settings.urls.size());
    std::vector<net::endpoint> endpoints;
    for (const auto& url : settings.urls) endpoints.push_back(read(url, settings));
    check_distinct(endpoints);
    return endpoints;
}

}  // namespace holdfast::runtime
