#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/backoff.hpp"
#include "core/node_set.hpp"
#include "core/owed_releases.hpp"
#include "core/time.hpp"
#include "net/failure.hpp"
#include "runtime/driving/timer_queue.hpp"
#include "runtime/plan.hpp"

namespace holdfast::runtime {

class engine;

/// The releases that the nodes of one client are owed: carries out core::owed_releases.
///
/// A node that is connected is asked again after pauses that grow: it answered with an error (no
/// right to, loading, read-only, busy with somebody's script), or the release could not be sent.
/// One that is not is asked after the reconnect. Both only until the key would be gone by itself,
/// and so it is left to, too, where there is no memory to note what is owed.
class release_retries final : private timer {
  public:
    /// `until`: when the key is gone without our help.
    struct release {
        plan_pointer what;
        std::string owner;
        core::time_point until;
        std::string entry{};  // in the wait queue, as of kinds::claim
        friend bool operator==(const release& a, std::string_view owner) {
            return a.owner == owner;
        }
    };

    explicit release_retries(engine& through);

    /// It may not have arrived.
    void owe(core::node_index to, const plan_pointer& what, const std::string& owner,
             core::time_point until, std::string_view entry = {}) noexcept HOLDFAST_LOCKED;

    /// It arrived, and the node answered with an error: the key may still stand.
    void refused(core::node_index by, const plan_pointer& what, const std::string& owner,
                 core::time_point until, const net::failure& why,
                 std::string_view entry = {}) noexcept HOLDFAST_LOCKED;

    /// The node has said whether it was ours: it is not any more.
    void settled(core::node_index by, std::string_view owner) noexcept HOLDFAST_LOCKED;

    /// The node is connected again. A replica would refuse, and be connected to anew for that: it
    /// is asked after a pause.
    void retry(core::node_index to, core::time_point now) HOLDFAST_LOCKED;

    /// The node has granted a lock to an owner of this client under which nobody waits or holds. It
    /// is released now, whether that was owed or not.
    void decline(core::node_index by, const kinds::call& grant,
                 core::time_point now) HOLDFAST_LOCKED;

    /// All that can be: the client is about to be closed, and cannot wait for a pause to end.
    void retry_now(core::time_point now) noexcept HOLDFAST_LOCKED { due(now); }

    void stop() noexcept HOLDFAST_LOCKED;

    /// Those to whom something is owed.
    [[nodiscard]] std::vector<core::node_index> owing() const HOLDFAST_LOCKED {
        return owed_.owing();
    }

  private:
    void due(core::time_point now) noexcept override HOLDFAST_LOCKED;
    void send_all(core::node_index to, core::time_point now) HOLDFAST_LOCKED;
    void wait_a_while() noexcept HOLDFAST_LOCKED;

    engine& engine_;
    core::owed_releases<release> owed_;
    core::backoff pause_;
    bool waiting_ = false;  // for the end of a pause
};

}  // namespace holdfast::runtime
