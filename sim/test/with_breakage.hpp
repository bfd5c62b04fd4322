#pragma once

#include "sim/mutants/breakage.hpp"

namespace holdfast::sim {

/// Breaks a rule for as long as it lives.
class with_breakage {
  public:
    explicit with_breakage(breakage which) { active_breakage = which; }
    ~with_breakage() { active_breakage = breakage::none; }
    with_breakage(const with_breakage&) = delete;
    with_breakage& operator=(const with_breakage&) = delete;
};

}  // namespace holdfast::sim
