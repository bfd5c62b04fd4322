#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/explore/explorer.hpp"
#include "sim/mutants/mutants.hpp"
#include "sim/program/sweep.hpp"

namespace holdfast::sim {

/// What `holdfast-sim` is asked for.
struct program_options {
    enum class task : std::uint8_t { seeds, seed, explore, mutants, hunt, help };

    task what = task::seeds;
    range seeds{0, 1000};
    std::uint64_t seed = 0;
    unsigned jobs = 1;
    fault_set faults = fault_set::all();
    topology shape = topology::servers;
    bool trace = false;
    small_case size{};
    bool queue = false;  // the small case with one server and its queue
    std::uint64_t most = 5'000;
    const mutant* broken = nullptr;  // or, of a hunt, its prey
};

extern const char* const usage;

/// Nothing where they make no sense.
std::optional<program_options> parse(const std::vector<std::string_view>& words);

}  // namespace holdfast::sim
