#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/check/holders.hpp"
#include "sim/server/server.hpp"
#include "sim/world/clocks.hpp"

namespace holdfast::sim {

class checkers;

inline constexpr std::string_view queue_key = "holdfast:{lock}:queue";

/// Watches the queue of the only server: who is granted the lock came before everybody else who
/// stands in line and is there, as far as the server can know; a release calls one of them; and
/// nobody comes past them. It keeps the order of arrival itself, and does not believe in that of
/// the queue. Plain SET may pass the queue: by whoever was told last that there is none.
class line_watch {
  public:
    /// Whether the server has somebody to tell what is published there.
    using receives = std::function<bool(std::string_view channel)>;

    /// A command is about to run.
    void about_to_run(std::span<const std::string> queue, const receives& heard);

    /// A right that the queue takes is missing until then: who may not be called, or not be found
    /// there, is passed.
    void hinder(instant until) { hindered_until_ = std::max(hindered_until_, until); }
    [[nodiscard]] instant hindered_until() const { return hindered_until_; }

    /// The server forgot its last writes: it has a queue of a while ago, in which some came in
    /// another order since.
    void rolled_back() { arrivals_.clear(); }

    /// It has.
    void executed(const execution& what, const lock_change& made, instant now, checkers& reports);

    /// Who begins to read lets those in who stand first in line and want no more than that.
    void check_readers_behind(const execution& what, const lock_change& made,
                              std::span<const std::string> queue, instant now, checkers& reports);

  private:
    struct waiter {
        std::string owner;
        bool there = false;  // it can be called, or cannot be known to be gone
    };

    [[nodiscard]] const waiter* find(std::string_view owner) const;
    void note_arrival(const execution& what);
    void check_grant(std::string_view to, std::string_view asker, const lock_change& made,
                     checkers& reports) const;
    [[nodiscard]] bool came_before(std::string_view one, std::string_view other) const;

    std::vector<waiter> line_;  // before the command
    std::map<std::string, std::size_t, std::less<>> arrivals_;
    std::size_t last_arrival_ = 0;
    std::vector<waiter> last_line_;  // of the last command that was watched
    instant hindered_until_{};
};

}  // namespace holdfast::sim
