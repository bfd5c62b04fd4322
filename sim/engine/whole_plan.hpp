#pragma once

#include "sim/plan.hpp"

namespace holdfast::sim::engine {

/// A plan for whole clients and servers: what sim/plan.hpp draws, in what the options of a client
/// can say, and the faults that only these can have.
plan draw_whole_plan(std::uint64_t seed, fault_set allowed = fault_set::all());

}  // namespace holdfast::sim::engine
