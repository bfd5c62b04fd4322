#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/locks.hpp"
#include "core/contend.hpp"
#include "core/contention.hpp"
#include "core/hand_off.hpp"
#include "core/local_queue.hpp"
#include "core/node_set.hpp"
#include "core/time.hpp"
#include "core/yield_policy.hpp"
#include "kinds/calls.hpp"
#include "runtime/plan.hpp"

namespace holdfast::runtime {

class hold;

/// Somebody who stands in the queue for a key.
class contender {
  public:
    [[nodiscard]] virtual core::local_id id() const = 0;
    [[nodiscard]] virtual core::sharing sharing() const = 0;
    /// `pause`: in which others may come first.
    virtual void turn(core::duration pause, core::time_point now) noexcept HOLDFAST_LOCKED = 0;
    virtual void notified(core::node_index where,
                          core::time_point now) noexcept HOLDFAST_LOCKED = 0;
    /// As of join_apart().
    [[nodiscard]] virtual bool apart() const = 0;
    /// Whether it stands in line at the server under this owner, and that it was granted the lock.
    [[nodiscard]] virtual bool waits_as(std::string_view owner) const HOLDFAST_LOCKED = 0;
    virtual void called(core::time_point now) noexcept HOLDFAST_LOCKED = 0;
    /// The server tracks the key no more: whoever listens has to ask for that again.
    virtual void untracked(core::time_point now) noexcept HOLDFAST_LOCKED = 0;
    /// Takes over a place in line at the server, for its own turn; false: it cannot use it.
    virtual bool take_place(const plan& of, std::string& owner,
                            const kinds::entry& entry) HOLDFAST_LOCKED = 0;
    [[nodiscard]] virtual const plan& what() const = 0;
    virtual void abort() noexcept HOLDFAST_LOCKED = 0;  // the client is closed

    /// The holder of this process lets go. Returns whether this one, which `joined` the queue then,
    /// holds the lock now instead.
    virtual bool take_over(const core::grant& left, hold& from, core::arrival joined,
                           core::time_point now) noexcept HOLDFAST_LOCKED = 0;

  protected:
    ~contender() = default;
};

/// Where the callers of one client wait for one key. Who goes first is decided by
/// core::local_queue, and when others may, by core::yield_policy; this passes the word on.
class wait_queue {
  public:
    /// `key`: one of those of the plan.
    wait_queue(const plan_pointer& what, const std::string& key)
        : key_(what, &key), order_(what->keys.queued), queued_(what->keys.queued) {}
    wait_queue(const wait_queue&) = delete;
    wait_queue& operator=(const wait_queue&) = delete;

    void join(contender& who, core::time_point now) HOLDFAST_LOCKED;
    /// Waits without standing behind anybody of this client: the server alone decides.
    void join_apart(contender& who) HOLDFAST_LOCKED;
    void leave(contender& who, core::time_point now) noexcept HOLDFAST_LOCKED;

    /// Whether it is its turn: nobody of this client stands before it or keeps it out. Who has to
    /// have it in several queues, and is told in one, looks at all.
    [[nodiscard]] bool is_turn_of(const contender& who) const HOLDFAST_LOCKED {
        return order_.turn() == who.id();
    }

    /// So that the next took() of its kind cannot fail. Throws std::bad_alloc.
    void reserve_holder(const kinds::kind& of) HOLDFAST_LOCKED { order_.reserve(of.sharing()); }

    /// `lease` holds the key now. Call it before its contender leaves.
    void took(hold& lease,
              core::time_point now) noexcept HOLDFAST_LOCKED;  // REQUIRES: reserve_holder()
    void freed(hold& lease, core::time_point now) noexcept HOLDFAST_LOCKED;

    /// For whom `who`, in the queue or not, asks the servers if it does now.
    [[nodiscard]] core::hand_off_batch batch_for(const contender& who) const HOLDFAST_LOCKED {
        return core::batch_for(who.id(), order_);
    }

    /// Lets the next in the queue go on with what `lease` leaves. Returns false if nobody can.
    bool hand_off(hold& lease, const core::grant& left,
                  core::time_point now) noexcept HOLDFAST_LOCKED;

    /// Somebody of this client reached no majority, met another holder, or got the key from the
    /// servers.
    void unreachable(core::time_point now) HOLDFAST_LOCKED {
        out_since_ = std::min(out_since_, now);
    }
    void denied() HOLDFAST_LOCKED;
    void won(const core::contention& met, core::time_point asked_at,
             core::time_point now) HOLDFAST_LOCKED;

    /// A server said that the key changed. Only the first in the queue has asked any, and those
    /// who wait apart.
    void notified(core::node_index where, core::time_point now) HOLDFAST_LOCKED;

    /// `who` is about to leave, and has a place in line at the server: the next of this client goes
    /// on from there. False: nobody can.
    bool pass_place_on(const contender& who, std::string& owner,
                       const kinds::entry& entry) HOLDFAST_LOCKED;

    /// This client has written to the key itself: the server does not tell it of that (NOLOOP), and
    /// tracks the key no more.
    void untracked(core::time_point now) noexcept HOLDFAST_LOCKED;

    /// The lock was granted to who stands in line at the server under this owner. False: nobody
    /// does any more.
    bool called(std::string_view owner, core::time_point now) HOLDFAST_LOCKED;

    /// Whether nobody stood in line at the server when this client heard of it, a moment ago.
    void told_quiet(bool so, core::time_point now) HOLDFAST_LOCKED {
        quiet_until_ = so ? now + core::tuning::quiet_for : core::time_point{};
    }
    [[nodiscard]] bool quiet(core::time_point now) const HOLDFAST_LOCKED {
        return now < quiet_until_;
    }

    [[nodiscard]] std::string_view key() const { return *key_; }
    [[nodiscard]] const std::vector<contender*>& waiting() const HOLDFAST_LOCKED {
        return waiting_;
    }

    /// The lease of this client that is believed to hold the key, if any. Of several that share it
    /// the last that took it, while it does: nobody asks for more than one to be denied by.
    [[nodiscard]] hold* holder() const HOLDFAST_LOCKED { return holder_; }

    /// Whether somebody of this client waits for others of it to let go, and could not share the
    /// key with whoever comes now.
    [[nodiscard]] bool holds_back(core::sharing newcomer) const HOLDFAST_LOCKED {
        const auto next = order_.next();
        return next && order_.holders() > 0 && !core::compatible(next->how, newcomer);
    }

    /// What this client has lately learned about others who are after the key.
    [[nodiscard]] const core::contention& known_contention() const HOLDFAST_LOCKED {
        return contention_;
    }

    /// Since when nobody of this client, of those who asked, has reached a majority.
    [[nodiscard]] core::time_point out_since() const HOLDFAST_LOCKED { return out_since_; }

  private:
    friend class wait_queues;

    void give_turn(std::optional<core::local_id> to, core::duration pause,
                   core::time_point now) HOLDFAST_LOCKED;
    [[nodiscard]] core::duration gap(core::time_point now) HOLDFAST_LOCKED;
    [[nodiscard]] contender* find(std::optional<core::local_id> who) const;
    /// Who is next when `lease` lets go; nullptr: nobody, or it holds the key no more.
    [[nodiscard]] contender* next_after(const hold& lease) const HOLDFAST_LOCKED;

    std::shared_ptr<const std::string> key_;  // in the plan of whoever opened it
    core::local_queue order_;
    std::vector<contender*> waiting_;
    hold* holder_ = nullptr;
    core::contention contention_;
    core::yield_policy yielding_;
    std::size_t apart_ = 0;  // how many of those who wait
    core::time_point quiet_until_{};
    core::time_point out_since_ = core::never;
    std::size_t users_ = 0;
    bool queued_;          // the only voter keeps a queue, too
    bool listed_ = false;  // among those of `wait_queues` that may be idle
};

}  // namespace holdfast::runtime
