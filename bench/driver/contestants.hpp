#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crowd.hpp"

namespace holdfast::bench {

/// Makes the lock of a key.
using lock_maker = std::function<std::unique_ptr<lockable>(const std::string& key)>;

/// The names of all variants:
///   holdfast, plain, unawaited, plain-unawaited
///               one client for all workers; fenced or not, the release awaited or not
///   no-spin     as holdfast, with options::spin off
///   fair        as holdfast, with acquire_options::fair, where this version has it
///   floor       hiredis, connections of its own for each worker; for distinct keys only: it knows
///               no waiting
///   asleep      no lock: workers that sleep until the round is over, for the memory of a thread
///   ring:N, ring-unawaited:N
///               N members in all processes together; see ring.hpp
/// and those of kinds.hpp.
std::vector<std::string> variants();

/// Empty for a variant that is not known.
lock_maker open(const std::string& variant, const std::vector<std::string>& urls);

}  // namespace holdfast::bench
