#pragma once

#include <string>
#include <vector>

#include "storm/account.hpp"

namespace holdfast::storm {

/// What a whole storm must have seen, or it has shown nothing about it. Empty: all of it.
std::vector<std::string> not_covered(const account& all);

}  // namespace holdfast::storm
