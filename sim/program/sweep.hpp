#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sim/world/plan.hpp"
#include "sim/world/simulation.hpp"

/// Many seeds on several threads.
namespace holdfast::sim {

struct range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // not included
};

struct totals {
    std::uint64_t seeds = 0;
    std::uint64_t events = 0;
    std::uint64_t attempts = 0;
    std::uint64_t acquired = 0;
    std::uint64_t handed_off = 0;
    std::uint64_t fail_overs = 0;
    std::uint64_t exclusion_checked = 0;  // seeds whose faults are within T1's assumptions
    std::uint64_t order_checked = 0;      // and T2's
    instant simulated{};
    double elapsed_seconds = 0;
};

struct failure {
    plan settings{};
    violation broken{};
};

struct sweep_result {
    totals sum{};
    std::optional<failure> first{};  // the lowest seed that failed, among those that were run
};

/// Whether a seed is worth running.
using choice = bool (*)(const plan&);
inline bool any_seed(const plan&) { return true; }

/// Looks at a sweep fifty times a second; returns whether it goes on.
using watcher = std::function<bool(const totals&)>;

/// Runs until the range is done, a seed fails or the watcher has seen enough; passes over seeds
/// that are not worth it.
sweep_result sweep(range seeds, unsigned jobs, fault_set allowed, const watcher& watch = {},
                   choice worth = any_seed, topology shape = topology::servers);

/// The same failure with as few faults as it needs.
failure minimise(const failure& found, script_library& scripts);

}  // namespace holdfast::sim
