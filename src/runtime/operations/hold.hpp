#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "core/hand_off.hpp"
#include "core/local_queue.hpp"
#include "core/watchdog.hpp"
#include "runtime/engine.hpp"
#include "runtime/operations/releasing.hpp"

namespace holdfast::runtime {

class renewal;

/// How a lease was let go.
enum class release_path : std::uint8_t {
    ended_before,  // nothing was done
    handed_off,    // to the next in the queue of this process: nothing was sent
    sent,          // to the servers; the listener will be told the outcome
    owed,          // there was no memory to send it: it will be, while the key may stand
};

/// One lease, from the grant to its end: carries out what core::watchdog decides.
///
/// Lives as long as its lease object, or as a renewal or its release that is under way.
class hold final : public std::enable_shared_from_this<hold>, private timer {
  public:
    struct acquired {
        plan_pointer what;
        std::string owner;
        core::grant gained;
    };

    hold(engine_pointer through, wait_queue& where, acquired won,
         core::time_point now) HOLDFAST_LOCKED;
    ~hold() override;  // REQUIRES: ended

    [[nodiscard]] const plan& what() const { return *acquired_.what; }
    [[nodiscard]] const plan_pointer& shared_plan() const { return acquired_.what; }
    /// As the servers know it. Who takes it over within the process has it then, and this one none.
    [[nodiscard]] const std::string& owner() const HOLDFAST_LOCKED { return acquired_.owner; }
    [[nodiscard]] std::shared_ptr<const std::string> shared_owner() const HOLDFAST_LOCKED {
        return {shared_from_this(), &acquired_.owner};
    }
    /// The same, for its holder to show to others: nobody takes it over any more. Where somebody
    /// has, it is one that no server has ever seen.
    [[nodiscard]] const std::string& show_owner() noexcept HOLDFAST_UNLOCKED;
    [[nodiscard]] core::fencing_token token() const { return acquired_.gained.token; }
    [[nodiscard]] std::uint32_t slot() const { return acquired_.gained.slot; }
    [[nodiscard]] const core::grant& gained() const HOLDFAST_LOCKED { return acquired_.gained; }
    [[nodiscard]] core::local_id id() const { return id_; }
    [[nodiscard]] core::time_point valid_until() const;
    [[nodiscard]] bool lost(core::time_point now) const;
    [[nodiscard]] bool announced() const { return announced_.load(std::memory_order_acquire); }
    [[nodiscard]] engine& through() const { return *engine_; }
    [[nodiscard]] const engine_pointer& shared_engine() const { return engine_; }
    [[nodiscard]] std::stop_token stop_token() HOLDFAST_UNLOCKED;

    /// Leaves the owner token to the next holder, unless it has been shown.
    [[nodiscard]] std::optional<std::string> hand_off_owner() HOLDFAST_LOCKED;
    /// That one could not use it.
    void take_back_owner(std::string owner) noexcept HOLDFAST_LOCKED;
    /// REQUIRES: engine::reserve_hold(), wait_queue::reserve_holder()
    void start(core::time_point now) noexcept HOLDFAST_LOCKED;
    /// From now on it is renewed, and its loss announced. Its holder has been told before.
    void attend(core::time_point now) noexcept HOLDFAST_LOCKED;
    void renewed(const core::renew& attempt, core::time_point now) noexcept HOLDFAST_LOCKED;
    /// The servers are being asked to let it live for so long.
    void changing(core::duration ttl) HOLDFAST_LOCKED {
        acquired_.gained.unchanged = false;
        longest_asked_ = std::max(longest_asked_, ttl);
    }

    /// Lets it go: to the next in the queue of this process, if that can go on with it, or back to
    /// the servers. Whoever waits here then asks in the same write, behind the release. `done` may
    /// be empty; it is called only where the release was sent.
    release_path release(releasing::listener done) noexcept HOLDFAST_LOCKED;
    /// Ends it here, and leaves the key to its ttl.
    void detach() noexcept HOLDFAST_LOCKED;

    /// Ends it, and goes on as a reader of the same lock, who believes in the same deadline from
    /// the start; the servers are told by the first renewal of that, which is started: `told` hears
    /// of it. Throws std::bad_alloc before anything was done. REQUIRES: held, and not shared.
    std::shared_ptr<hold> become_reader(std::function<void(const renewal&)> told,
                                        core::time_point now) HOLDFAST_LOCKED;

    /// A majority says that its key is another's, or nobody's.
    void found_gone(core::time_point now) noexcept HOLDFAST_LOCKED;
    void lose(core::time_point now) noexcept HOLDFAST_LOCKED;
    [[nodiscard]] bool ended() const HOLDFAST_LOCKED { return ended_; }
    [[nodiscard]] bool released() const HOLDFAST_LOCKED {
        return ended_ && gone_.load(std::memory_order_acquire);
    }

    /// Where the engine keeps it, so that leave() takes constant time.
    [[nodiscard]] std::size_t place() const HOLDFAST_LOCKED { return place_; }
    void place(std::size_t where) HOLDFAST_LOCKED { place_ = where; }

    /// Until when the key may still stand at a server. A renewal that nobody has confirmed may have
    /// been carried out this moment.
    [[nodiscard]] core::time_point key_gone_at() const HOLDFAST_LOCKED;

  private:
    enum class owner_state : std::uint8_t { unseen, shown, handed_off };
    class announcement;

    void due(core::time_point now) noexcept override HOLDFAST_LOCKED;
    void carry_out(const core::watchdog::decision& next,
                   core::time_point now) noexcept HOLDFAST_LOCKED;
    void renew(core::duration ttl, core::time_point now) noexcept HOLDFAST_LOCKED;
    void announce() noexcept HOLDFAST_LOCKED;
    void abandon(core::time_point now) noexcept HOLDFAST_LOCKED;
    void depart(core::time_point now) noexcept HOLDFAST_LOCKED;  // held no longer

    /// Returns false if it had ended before.
    bool end(core::time_point now) noexcept HOLDFAST_LOCKED;
    /// What somebody else of this process could go on with.
    [[nodiscard]] core::grant leaves(core::time_point now) const HOLDFAST_LOCKED;
    /// Somebody else's turn: to go on with what it leaves, if anybody of this process can, or to
    /// ask the servers.
    bool hand_off(const core::grant& left, core::time_point now) noexcept HOLDFAST_LOCKED;
    void vacate(core::time_point now) noexcept HOLDFAST_LOCKED;
    [[nodiscard]] bool send_release(releasing::listener done,
                                    core::time_point now) noexcept HOLDFAST_LOCKED;
    template <typename Visit>
    void each_queue(Visit&& visit) HOLDFAST_LOCKED;

    engine_pointer engine_;
    acquired acquired_;  // the owner: as owner_state_ says; what changing() changes: with the lock
    core::local_id id_;
    core::time_point acquired_at_;
    wait_queue* queue_ HOLDFAST_GUARDED;  // of the first key, until it leaves it
    core::watchdog watchdog_ HOLDFAST_GUARDED;
    core::duration longest_asked_ HOLDFAST_GUARDED;
    std::atomic<core::time_point> valid_until_;
    std::atomic<bool> gone_ = false;  // found out or given up before the deadline
    std::size_t place_ HOLDFAST_GUARDED = 0;
    std::atomic<owner_state> owner_state_ = owner_state::unseen;
    bool ended_ HOLDFAST_GUARDED = false;
    bool departed_ HOLDFAST_GUARDED = false;
    std::atomic<bool> announced_ = false;
    std::shared_ptr<announcement> announcement_ HOLDFAST_GUARDED;  // made when first asked for
};

}  // namespace holdfast::runtime
