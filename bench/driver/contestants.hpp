#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crowd.hpp"

namespace holdfast::bench {

/// Makes the lock of a key.
using lock_maker = std::function<std::unique_ptr<lockable>(const std::string& key)>;

/// Empty for a variant that is not known.
///   holdfast, plain, unawaited, plain-unawaited   one client for all workers
///   floor   hiredis, connections of its own for each worker; knows no waiting, and so no shared
///   key
lock_maker open(const std::string& variant, const std::vector<std::string>& urls);

}  // namespace holdfast::bench
