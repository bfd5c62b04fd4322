#pragma once

#include <string>

#include "holdfast/client.hpp"

namespace holdfast::tool {

/// Says that the lock is no longer ours, and returns the exit code for that; throws
/// errc::wrong_type where the key holds what is no lock at all.
int no_longer_ours(client& through, const std::string& key);

}  // namespace holdfast::tool
