#pragma once

#include <cstdint>
#include <variant>

#include "core/node_set.hpp"
#include "core/timing.hpp"

/// One attempt to extend a lease on a majority of the nodes where it still stands.
///
///   state        meaning
///   idle         not started
///   extending    asked everywhere, not decided
///   extended     decided: q nodes extended before the old deadline; valid_until() is new
///   unconfirmed  decided: no majority answered; the old deadline stands, try again
///   lost         decided: too many nodes hold another owner or none, or it came too late
///
///                extending        extended, unconfirmed, lost
///   extended     count, decide    ignored: one more node than was needed
///   disowned     count, decide    ignored: the next renewal will see it again
///   unknown      count, decide    ignored: the same
///
/// A key that is gone is not created again: somebody else may have held it in between.
namespace holdfast::core {

class renew {
  public:
    enum class state : std::uint8_t { idle, extending, extended, unconfirmed, lost };

    struct config {
        std::size_t nodes = 1;
        core::timing timing{};
        time_point old_deadline{};
    };

    struct extended {
        node_index node;
    };
    struct disowned {
        node_index node;
    };
    struct unknown {
        node_index node;
    };
    using event = std::variant<extended, disowned, unknown>;

    struct actions {
        node_set extend_on{};
        bool decided = false;  // true exactly once
        friend bool operator==(const actions&, const actions&) = default;
    };

    explicit renew(const config& settings);

    /// REQUIRES: current() == idle. `now` is read before the first byte is sent.
    actions start(time_point now);

    /// REQUIRES: started. `now` is read after the event happened.
    actions step(const event& happened, time_point now);

    [[nodiscard]] state current() const { return state_; }
    [[nodiscard]] time_point sent_at() const { return sent_at_; }

    /// Never earlier than the old deadline: an extension does not shorten.
    [[nodiscard]] time_point valid_until() const { return valid_until_; }

  private:
    actions on(const extended& answer, time_point now);
    actions on(const disowned& answer, time_point now);
    actions on(const unknown& answer, time_point now);
    actions decide(time_point now);
    actions finish(state how);

    config config_;
    state state_ = state::idle;
    time_point sent_at_{};
    time_point valid_until_{};
    node_set pending_{};
    node_set extended_{};
    node_set disowned_{};
};

}  // namespace holdfast::core
