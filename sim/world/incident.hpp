#pragma once

#include <cstdint>
#include <span>

#include "sim/world/world.hpp"

namespace holdfast::sim {

/// A fault that happens at a time and a place; the others are properties of every message or clock.
struct incident {
    fault what{};
    instant at{};
    core::duration lasts{};
    std::uint32_t server = 0;
    std::uint32_t client = 0;
    core::duration size{};
    std::uint32_t variety = 0;  // whatever else has to be chosen
};

std::span<const fault> kinds_of_incidents();
incident draw_incident(fault what, const plan& settings, random& chance);

}  // namespace holdfast::sim
