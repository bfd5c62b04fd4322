#pragma once

#include "runtime/engine.hpp"
#include "runtime/operations/hold.hpp"
#include "runtime/plan.hpp"
#include "sim/check/kind_keys.hpp"
#include "sim/world/process.hpp"

namespace holdfast::sim {

/// What the options of every acquire say.
acquire_options wish_for(const plan& settings, bool limited, bool fair);

/// What the callers of one process ask for, where that is no mutex.
class kind_wishes {
  public:
    kind_wishes(const runtime::engine& through, process& of);

    [[nodiscard]] runtime::plan_pointer draw(std::uint32_t caller, bool limited, bool fair);

  private:
    [[nodiscard]] runtime::plan_pointer make(std::uint32_t caller, const acquire_options& how);

    const runtime::engine& engine_;
    process& process_;
    std::vector<std::shared_ptr<runtime::candidacy>> candidates_;  // each caller
};

/// What somebody has who holds this.
places places_of(const kind_plan& kind, const runtime::hold& won);

}  // namespace holdfast::sim
