#pragma once

#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/locks.hpp"
#include "core/node_set.hpp"
#include "core/time.hpp"
#include "kinds/answers.hpp"
#include "kinds/calls.hpp"
#include "runtime/plan.hpp"
#include "runtime/waiting/wait_queue.hpp"

namespace holdfast::runtime {

/// The wait queues of one client, one per key that somebody uses: waits for, holds, or tries.
///
/// A queue that nobody uses any more is kept for a while, with what it has learned and allocated: a
/// lock that was taken is often taken again.
class wait_queues {
  public:
    /// Whoever opens the queue of a lock uses it until it closes it; where several keys are locked
    /// at once, those of all of them. Returns the first, which stands for them here. Throws
    /// std::bad_alloc before any is opened.
    wait_queue& open(const plan_pointer& what) HOLDFAST_LOCKED;
    wait_queue& open(const plan& what, wait_queue& first) noexcept HOLDFAST_LOCKED;
    void close(const plan& what, wait_queue& first) noexcept HOLDFAST_LOCKED;

    /// The same for one queue alone.
    static wait_queue& open(wait_queue& known) noexcept HOLDFAST_LOCKED;
    void close(wait_queue& from) noexcept HOLDFAST_LOCKED;

    /// Visits all of them, in the order of the keys. REQUIRES: opened, until it returns.
    template <typename Visit>
    void each(const plan& what, wait_queue& first, Visit&& visit) HOLDFAST_LOCKED {
        visit(first);
        for (const auto& key : what.keys.rest()) visit(queues_.find(key)->second);
    }

    /// A server said that the key changed, or that all keys did.
    void notified(std::string_view key, core::node_index where,
                  core::time_point now) HOLDFAST_LOCKED;
    void notified_all(core::node_index where, core::time_point now) HOLDFAST_LOCKED;

    /// The lock was granted to who stands in line at the server under that owner. False: nobody
    /// does any more.
    bool called(const kinds::call& whom, core::time_point now) HOLDFAST_LOCKED;

    /// What became of a release says whether others stand in line there.
    void released(std::string_view key, kinds::release_found what,
                  core::time_point now) HOLDFAST_LOCKED;

    void abort_all() noexcept HOLDFAST_LOCKED;

    /// The keys that somebody waits for. Valid as long as nobody stops to.
    [[nodiscard]] std::vector<std::string_view> waited_for() const HOLDFAST_LOCKED;

  private:
    wait_queue& open(const plan_pointer& what, const std::string& key) HOLDFAST_LOCKED;
    std::vector<wait_queue*> open_those_with_waiters() HOLDFAST_LOCKED;

    std::unordered_map<std::string_view, wait_queue> queues_;  // by the key that the queue keeps
    std::deque<wait_queue*> idle_;                             // or in use again by now
};

}  // namespace holdfast::runtime
