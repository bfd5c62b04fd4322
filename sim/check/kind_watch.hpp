#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/check/kind_keys.hpp"
#include "sim/server/server.hpp"
#include "sim/world/clocks.hpp"
#include "sim/world/world.hpp"

namespace holdfast::sim {

class checkers;

/// Watches what servers do with locks of the kinds that are no mutex: who holds what, and who
/// stands in line, before and after each command.
///
///   - nobody's lock or permit is taken away, or its time cut short, by a command of another's
///   - no two have one slot of a semaphore, and no more have one than there are
///   - at the only server nobody is let in past one who stands in line, can be called, and stays
///     there
///   - nor does anybody stay there where a permit is free; and nobody is let in who is gone
///   - who lets go, or gives up, is in nobody's way any more
///   - nothing is kept for ever
class kind_watch {
  public:
    kind_watch(world& in, checkers& reports) : world_(in), reports_(reports) {}

    /// Whether the server has somebody to tell what is published there.
    using receives = std::function<bool(std::string_view channel)>;

    void about_to_run(const keyspace& data, keyspace::wall_time now, const receives& heard);
    void executed(const execution& what, const keyspace& data);

  private:
    struct waiter {
        std::string owner;
        bool there = false;  // it can be called, or cannot be known to be gone
    };
    struct lock_state {
        std::vector<possession> held;
        std::vector<waiter> line;
    };

    [[nodiscard]] lock_state look_at(std::string_view lock, const keyspace& data,
                                     keyspace::wall_time now, const receives& heard) const;
    void check_others(const execution& what, const lock_state& before, const lock_state& after);
    void check_slots(const lock_state& after);
    void check_line(const execution& what, const lock_state& before, const lock_state& after);
    void check_left(const execution& what, const lock_state& after);
    void check_expiry(std::string_view lock, const keyspace& data, keyspace::wall_time now);
    void check_free(const execution& what, const lock_state& before, const lock_state& after);

    world& world_;
    checkers& reports_;
    std::vector<lock_state> before_;  // of each lock of the plan
    receives heard_;
};

}  // namespace holdfast::sim
