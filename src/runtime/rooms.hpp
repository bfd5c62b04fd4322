#pragma once

#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/node_set.hpp"
#include "core/time.hpp"
#include "runtime/plan.hpp"
#include "runtime/room.hpp"

namespace holdfast::runtime {

/// The waiting rooms of one client, one per key that somebody uses: waits for, holds, or tries.
///
/// A room that nobody uses any more is kept for a while, with what it has learned and allocated: a
/// lock that was taken is often taken again.
class rooms {
  public:
    /// Whoever enters a room uses it until it exits.
    room& enter(const plan_pointer& what);
    room& enter(room& known);
    void exit(room& from) noexcept;

    /// A server said that the key changed, or that all keys did.
    void told(std::string_view key, core::node_index where, core::time_point now);
    void told_all(core::node_index where, core::time_point now);

    void abort_all() noexcept;

  private:
    std::vector<room*> enter_those_with_waiters();

    std::unordered_map<std::string_view, room> rooms_;  // by the key that the room keeps
    std::deque<room*> idle_;                            // or in use again by now
};

}  // namespace holdfast::runtime
