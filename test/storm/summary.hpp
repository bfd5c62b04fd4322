#pragma once

#include <iosfwd>

#include "storm/checker.hpp"

namespace holdfast::storm {

/// Operations, faults by kind, what was lost and why, percentiles, violations: for people.
void print_summary(std::ostream& out, const account& all, const verdict& found);

}  // namespace holdfast::storm
