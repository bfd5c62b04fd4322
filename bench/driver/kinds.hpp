#pragma once

#include <string>
#include <vector>

#include "contestants.hpp"

namespace holdfast::bench {

/// Kinds of locks beside the mutex, one client for all workers, options as they come:
///   reading, writing   a shared_mutex
///   semaphore:N        of N permits
///   two-keys           a multi_mutex of the key and another
///   election           a cycle is to campaign, which succeeds, and to resign
///   latch              a cycle is to count down once: nobody holds a latch
std::vector<std::string> kinds();

/// Empty for a variant that is not one of these.
lock_maker open_kind(const std::string& variant, const std::vector<std::string>& urls);

}  // namespace holdfast::bench
