#pragma once

#include <cstdint>
#include <variant>

#include "core/node_set.hpp"

/// Compare-and-delete on every node, also on those that never granted: their grant may have been
/// lost on the way to us.
///
///   state        meaning
///   idle         not started
///   releasing    asked everywhere, not decided
///   decided      `outcome()` is final; the rest of the answers change nothing
///
///                releasing        decided
///   released     count, decide    ignored
///   disowned     count, decide    ignored
///   unknown      count, decide    ignored
namespace holdfast::core {

class release {
  public:
    enum class state : std::uint8_t { idle, releasing, decided };

    enum class verdict : std::uint8_t {
        none,
        released,      // a majority still held it for us, and no longer does
        already_lost,  // no majority held it for us any more
        unknown,       // too few answered to tell; what is left expires with its ttl
    };

    struct released {
        node_index node;
    };
    struct disowned {
        node_index node;
    };
    struct unknown {
        node_index node;
    };
    using event = std::variant<released, disowned, unknown>;

    struct actions {
        node_set release_on{};
        bool decided = false;  // true exactly once
        friend bool operator==(const actions&, const actions&) = default;
    };

    explicit release(std::size_t nodes);

    /// REQUIRES: current() == idle.
    actions start();

    /// REQUIRES: started.
    actions step(const event& happened);

    [[nodiscard]] state current() const { return state_; }
    [[nodiscard]] verdict outcome() const { return verdict_; }

  private:
    actions decide();
    actions finish(verdict how);

    std::size_t nodes_;
    state state_ = state::idle;
    verdict verdict_ = verdict::none;
    node_set pending_{};
    node_set released_{};
    node_set disowned_{};
};

}  // namespace holdfast::core
