#pragma once

#include <iosfwd>

#include "storm/checker.hpp"

namespace holdfast::storm {

/// Draws who held what when as an SVG: a row per key and worker, faults as bands across all of
/// them, violations in red. Pointing at something tells more about it.
void draw_timeline(std::ostream& out, const account& all, const verdict& found, instant begin,
                   instant end);

}  // namespace holdfast::storm
