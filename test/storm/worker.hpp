#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "holdfast/options.hpp"

namespace holdfast::storm {

/// What every client of the storm is given. The ttls are short, so that a fault of a second or two
/// is one of about a ttl, and a quarantine is soon over.
inline constexpr std::chrono::milliseconds max_ttl{2500};
inline constexpr std::chrono::milliseconds shortest_ttl{1000};
inline constexpr std::chrono::milliseconds longest_ttl{2000};
inline constexpr std::chrono::milliseconds common_ttl{1500};  // of leases that may be handed off

options settings_for(const std::vector<std::string>& urls);

struct worker_orders {
    std::string name{};
    std::uint64_t generation = 0;  // how many of this name were killed before
    std::uint64_t seed = 0;
    std::filesystem::path directory{};  // for NAME.history and NAME.log
    std::uint16_t register_port = 0;
    std::vector<std::string> urls{};
};

/// A process that takes locks and writes registers under them until its standard input ends.
/// It uses the public library alone, from threads that share a client. Returns its exit code.
int run_worker(const worker_orders& orders);

}  // namespace holdfast::storm
