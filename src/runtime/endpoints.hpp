#pragma once

#include <vector>

#include "holdfast/options.hpp"
#include "net/endpoint.hpp"

namespace holdfast::runtime {

/// What a client was given, checked and complete: no default left open, what the URLs say of
/// settings taken over, and each server with what its URL left to the options.
struct resolved {
    options settings;
    std::vector<net::endpoint> endpoints;
    bool cluster = false;  // the endpoints are seeds of one Cluster, and no voters
};

/// Throws std::system_error with errc::invalid_url or errc::invalid_option; never with a password
/// in it.
resolved resolve(options given);

}  // namespace holdfast::runtime
