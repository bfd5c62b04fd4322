#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/check/holders.hpp"
#include "sim/server/server.hpp"
#include "sim/world/world.hpp"

namespace holdfast::sim {

class checkers;

/// The owner in an entry of the queue: `<channel> <since> <owner>`.
std::string_view owner_in_entry(std::string_view entry);

/// Watches how long those who stand in line at the only server wait for nothing:
///
///   - a grant that nobody claims is gone after 2 s, whoever it was for;
///   - whoever was granted the lock, or stands in line for one that nobody has, and could have
///     asked all the time, has asked within a second: calls may be lost;
///   - where the lock was deleted by hand, the first in line does so at once: it listens.
///
/// It is shown the server four times a second, so all of these are noticed a little late.
class line_pace {
  public:
    static constexpr core::duration every = std::chrono::milliseconds(250);

    explicit line_pace(const world& in) : world_(in) {}

    /// The server as it is now. `able_since`: from when on an owner's client has been there,
    /// connected, and free to ask; instant::max(): it is not, or wants nothing under it any more.
    struct sight {
        const std::string* lock = nullptr;  // null: nobody has it
        std::span<const std::string> queue;
        std::function<instant(std::string_view owner)> able_since;
        std::function<bool(std::string_view owner)> is_told;  // of keys that change
        std::function<bool(std::string_view owner)> holds;
    };

    void executed(const execution& what, const lock_change& made);
    void look(const sight& now, checkers& reports);
    /// By hand.
    void deleted(const sight& before);
    /// It is down, or somebody else by now: everything begins anew.
    void forget();

  private:
    struct since {
        std::string owner;
        instant at{};
    };

    void note(std::optional<since>& what, const std::string* owner) const;
    void look_at_grant(const since& granted, const sight& now, checkers& reports) const;
    void look_at_free_lock(const sight& now, checkers& reports) const;
    void look_at_deletion(const sight& now, checkers& reports);
    [[nodiscard]] core::duration slack() const;

    const world& world_;
    std::vector<since> granted_;    // and not claimed
    std::optional<since> holder_;   // as last seen; at: since when
    std::optional<since> head_;     // of the queue, the same
    std::optional<since> deleted_;  // by hand; owner: the first in line, who listens
    instant free_since_ = instant::max();
};

}  // namespace holdfast::sim
