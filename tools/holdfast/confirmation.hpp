#pragma once

#include <string>

namespace holdfast::tool {

/// Whether there is a terminal to ask somebody at.
bool can_ask();

/// Asks, and takes whatever is not a yes for a no. REQUIRES: can_ask().
bool confirmed(const std::string& question);

}  // namespace holdfast::tool
