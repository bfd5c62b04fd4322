#pragma once

#include <string>

#include "holdfast/options.hpp"

namespace holdfast::tool {

/// Prints who leads now, and then one line for each change, until a signal ends it. While the
/// servers cannot be reached it says so once, and goes on; not before they were reached for the
/// first time. Returns the exit code: 128 and the signal.
///
/// Errors: std::system_error, as from election_observer::next; failure where nobody reads on.
int watch_leader(const holdfast::options& settings, const std::string& name, bool json);

}  // namespace holdfast::tool
