#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/locks.hpp"
#include "holdfast/lease.hpp"
#include "runtime/plan.hpp"

namespace holdfast::detail {

/// The leases behind lock(), by thread. Usually one; two for the moment in which one thread has
/// lost the lock, not unlocked yet, and another one has taken it.
class held_leases {
  public:
    held_leases(const kinds::kind& which, runtime::plan_pointer plan,
                std::shared_ptr<runtime::candidacy> candidate, std::uint32_t permits,
                std::vector<std::string> keys = {})
        : kind_(which),
          permits_(permits),
          keys_(std::move(keys)),
          plan_(std::move(plan)),
          candidate_(std::move(candidate)) {}

    [[nodiscard]] const kinds::kind& kind() const { return kind_; }

    [[nodiscard]] std::uint32_t permits() const { return permits_; }  // of a semaphore

    /// Where several are locked at once, as runtime::list_of() has them; else there are none here.
    [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }

    /// How the lock is usually taken, checked once. Null: not checked yet, see plan_for().
    [[nodiscard]] const runtime::plan_pointer& plan() const { return plan_; }

    /// Null: it is no election.
    [[nodiscard]] const std::shared_ptr<runtime::candidacy>& candidate() const {
        return candidate_;
    }

    void put(lease held) {
        const base::thread_lock lock(guard_);
        held_.reserve(held_.size() + 1);  // nothing may fail once the lease is in the spare entry
        if (!spare_) {
            spare_ = std::make_unique<entry>(std::this_thread::get_id(), std::move(held));
        } else {
            *spare_ = {std::this_thread::get_id(), std::move(held)};
        }
        held_.push_back(std::move(spare_));
    }

    /// Takes out the calling thread's lease.
    std::optional<lease> take() {
        const base::thread_lock lock(guard_);
        const auto mine = find();
        if (mine == held_.size()) return std::nullopt;
        spare_ = std::move(held_[mine]);
        held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(mine));
        return std::move(spare_->second);
    }

    [[nodiscard]] const lease* current() const {
        const base::thread_lock lock(guard_);
        const auto mine = find();
        return mine == held_.size() ? nullptr : &held_[mine]->second;
    }

  private:
    using entry = std::pair<std::thread::id, lease>;
    using entries = std::vector<std::unique_ptr<entry>>;  // leases stay where they are

    /// Where the calling thread's is; behind the last: it has none.
    [[nodiscard]] std::size_t find() const HOLDFAST_REQUIRES(guard_) {
        const auto found = std::find_if(
            held_.begin(), held_.end(),
            [me = std::this_thread::get_id()](const auto& e) { return e->first == me; });
        return static_cast<std::size_t>(found - held_.begin());
    }

    const kinds::kind& kind_;
    std::uint32_t permits_;
    std::vector<std::string> keys_;
    runtime::plan_pointer plan_;
    std::shared_ptr<runtime::candidacy> candidate_;
    mutable base::thread_mutex guard_;
    entries held_ HOLDFAST_GUARDED_BY(guard_);
    std::unique_ptr<entry> spare_
        HOLDFAST_GUARDED_BY(guard_);  // the one that was used last, without its lease
};

}  // namespace holdfast::detail
