#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "holdfast/lease.hpp"
#include "runtime/plan.hpp"

namespace holdfast::detail {

/// The leases behind lock(), by thread. Usually one; two for the moment in which one thread has
/// lost the lock, not unlocked yet, and another one has taken it.
class held_leases {
  public:
    explicit held_leases(runtime::plan_pointer plan) : plan_(std::move(plan)) {}

    /// How the mutex takes its lock, checked once.
    [[nodiscard]] const runtime::plan_pointer& plan() const { return plan_; }

    void put(lease held) {
        const std::lock_guard lock(guard_);
        held_.push_back(std::make_unique<entry>(std::this_thread::get_id(), std::move(held)));
    }

    /// Takes out the calling thread's lease.
    std::optional<lease> take() {
        const std::lock_guard lock(guard_);
        const auto found = find();
        if (found == held_.end()) return std::nullopt;
        std::optional<lease> result(std::move((*found)->second));
        held_.erase(found);
        return result;
    }

    [[nodiscard]] const lease* current() const {
        const std::lock_guard lock(guard_);
        const auto found = find();
        return found == held_.end() ? nullptr : &(*found)->second;
    }

  private:
    using entry = std::pair<std::thread::id, lease>;
    using entries = std::vector<std::unique_ptr<entry>>;  // leases stay where they are

    [[nodiscard]] entries::const_iterator find() const {
        return std::find_if(
            held_.begin(), held_.end(),
            [me = std::this_thread::get_id()](const auto& e) { return e->first == me; });
    }

    runtime::plan_pointer plan_;
    mutable std::mutex guard_;
    entries held_;
};

}  // namespace holdfast::detail
