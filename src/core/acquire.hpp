#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include "core/fencing_token.hpp"
#include "core/node_set.hpp"
#include "core/timing.hpp"

/// One attempt to get a lease from a majority of nodes, and a fencing token that is larger than
/// that of every earlier holder.
///
///   state        meaning
///   idle         not started
///   collecting   asked everywhere, fewer than q grants yet
///   committing   q grants at least once, but fewer than q of those counters stand at the token
///   held         decided: q nodes are committed and enough validity is left
///   failed       decided: `outcome()` says why; releases are on their way
///
///                collecting      committing      held               failed
///   granted      count, decide   count, decide   commit if behind   ignored: release follows it
///   denied       count, decide   count, decide   ignored: too late  ignored: nothing landed
///   unknown      count, decide   count, decide   ignored: renewed   ignored: release follows it
///   committed    asserted        count, decide   ignored: decided   ignored: release follows it
///   disowned     asserted        drop, decide    ignored: decided   ignored: release follows it
///   cancelled    fail            fail            ignored: decided   ignored: decided
///
/// "release follows it": the release was sent after the acquire on the same connection, so a
/// grant that is answered late has been undone by the time anybody could act on it.
///
/// An answer that comes after `unknown` was reported for its node is an answer like any other. The
/// driver releases nothing by itself: a release that it sent for a late grant could undo what a
/// renewal of the same lease has counted in the meantime.
namespace holdfast::core {

class acquire {
  public:
    enum class state : std::uint8_t { idle, collecting, committing, held, failed };

    enum class verdict : std::uint8_t {
        none,         // not decided
        held,         // ours until valid_until()
        contended,    // denied, and no majority is out of reach
        unreachable,  // so many are unknown that no majority can have answered
        too_late,     // granted, but with too little validity left
        cancelled,    // the caller gave up
    };

    struct config {
        std::size_t nodes = 1;
        core::timing timing{};
    };

    // Events. Without fencing every grant carries the counter 0, and all are committed at once.
    struct granted {
        node_index node;
        fencing_token counter;
    };
    struct denied {
        node_index node;
    };
    struct unknown {
        node_index node;
    };  // of an acquire or of a commit
    struct committed {
        node_index node;
        fencing_token token;
    };  // the counter is at least that
    struct disowned {
        node_index node;
    };  // the commit found another owner, or none
    struct cancelled {};
    using event = std::variant<granted, denied, unknown, committed, disowned, cancelled>;

    /// What the driver has to do now, on each node named: at most one request of each kind.
    struct actions {
        node_set acquire_on{};
        node_set commit_on{};
        node_set release_on{};
        fencing_token commit{};  // what to send to `commit_on`
        bool decided = false;    // true exactly once: outcome() has its final value
        friend bool operator==(const actions&, const actions&) = default;
    };

    explicit acquire(const config& settings);

    /// REQUIRES: current() == idle. `now` is read before the first byte is sent.
    actions start(time_point now);

    /// REQUIRES: started. `now` is read after the event happened: this is the second look.
    actions step(const event& happened, time_point now);

    [[nodiscard]] state current() const { return state_; }
    [[nodiscard]] verdict outcome() const { return verdict_; }
    [[nodiscard]] bool decided() const { return state_ == state::held || state_ == state::failed; }
    [[nodiscard]] fencing_token token() const { return token_; }
    [[nodiscard]] time_point started_at() const { return started_at_; }
    [[nodiscard]] time_point valid_until() const;
    [[nodiscard]] node_set granted_by() const { return granted_; }
    [[nodiscard]] node_set denied_by() const { return denied_; }
    [[nodiscard]] node_set unknown_from() const { return unknown_; }

  private:
    actions on(const granted& answer, time_point now);
    actions on(const denied& answer, time_point now);
    actions on(const unknown& answer, time_point now);
    actions on(const committed& answer, time_point now);
    actions on(const disowned& answer, time_point now);
    actions on(const cancelled& answer, time_point now);

    actions decide(time_point now);
    actions commit_or_hold(time_point now);
    actions hold(time_point now);
    actions fail(verdict why);
    actions bring_up(node_set behind);
    [[nodiscard]] node_set committed_nodes() const;
    [[nodiscard]] node_set awaiting_commit() const;
    [[nodiscard]] verdict failure() const;

    config config_;
    state state_ = state::idle;
    verdict verdict_ = verdict::none;
    time_point started_at_{};
    fencing_token token_{};

    node_set pending_{};  // asked, not answered
    node_set granted_{};
    node_set denied_{};
    node_set unknown_{};
    std::array<fencing_token, max_nodes> counter_{};      // as last reported by the node
    std::array<fencing_token, max_nodes> commit_sent_{};  // largest commit on its way
};

}  // namespace holdfast::core
