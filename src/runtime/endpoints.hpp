#pragma once

#include <vector>

#include "holdfast/options.hpp"
#include "net/endpoint.hpp"

namespace holdfast::runtime {

/// The servers that the options name, with what the URLs leave open filled in. Throws
/// std::system_error with errc::invalid_url or errc::invalid_option; never with a password in it.
std::vector<net::endpoint> endpoints_of(const options& settings);

}  // namespace holdfast::runtime
