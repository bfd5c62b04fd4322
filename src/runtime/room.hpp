#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/contend.hpp"
#include "core/courtesy.hpp"
#include "core/estate.hpp"
#include "core/local_line.hpp"
#include "core/node_set.hpp"
#include "core/rivalry.hpp"
#include "core/time.hpp"
#include "runtime/plan.hpp"

namespace holdfast::runtime {

class hold;

/// Somebody who stands in line for a key.
class contender {
  public:
    [[nodiscard]] virtual core::local_id id() const = 0;
    [[nodiscard]] virtual core::sharing sharing() const = 0;
    virtual void turn(const core::courtesy::gap& left, core::time_point now) noexcept = 0;
    virtual void told(core::node_index where, core::time_point now) noexcept = 0;
    virtual void abort() noexcept = 0;  // the client is closed

    /// The holder of this process lets go. Returns whether this one, which `joined` the line then,
    /// holds the lock now instead.
    virtual bool inherit(const core::estate& left, hold& from, core::arrival joined,
                         core::time_point now) noexcept = 0;

  protected:
    ~contender() = default;
};

/// Where the callers of one client wait for one key. Who goes first is decided by core::local_line,
/// and when others may, by core::courtesy; this passes the word on.
class room {
  public:
    explicit room(plan_pointer what) : what_(std::move(what)) {}
    room(const room&) = delete;
    room& operator=(const room&) = delete;

    void join(contender& who, core::time_point now);
    void leave(contender& who, core::time_point now) noexcept;

    /// So that the next took() of its kind cannot fail. Throws std::bad_alloc.
    void reserve_holder(const kinds::kind& of) { line_.reserve(of.sharing()); }

    /// `lease` holds the key now. Call it before its contender leaves.
    void took(hold& lease, core::time_point now) noexcept;  // REQUIRES: reserve_holder()
    void freed(hold& lease, core::time_point now) noexcept;

    /// For whom `who`, in line or not, asks the servers if it does now.
    [[nodiscard]] core::hand_off_batch batch_for(const contender& who) const {
        return core::batch_for(who.id(), line_);
    }

    /// Lets the next in line go on with what `lease` leaves. Returns false if nobody can.
    bool pass_on(hold& lease, const core::estate& left, core::time_point now) noexcept;

    /// Somebody of this client met another holder, or got the key from the servers.
    void denied();
    void won(const core::rivalry& met, core::time_point asked_at, core::time_point now);

    /// A server said that the key changed. Only the first in line has asked any.
    void told(core::node_index where, core::time_point now);

    [[nodiscard]] std::string_view key() const { return what_->keys.lock; }
    [[nodiscard]] const std::vector<contender*>& waiting() const { return waiting_; }

    /// The lease of this client that is believed to hold the key, if any. Of several that share it
    /// the last that took it, while it does: nobody asks for more than one to be denied by.
    [[nodiscard]] hold* holder() const { return holder_; }

    /// What this client has lately learned about others who are after the key.
    [[nodiscard]] const core::rivalry& rivals() const { return rivals_; }

  private:
    friend class rooms;

    void give_turn(std::optional<core::local_id> to, const core::courtesy::gap& left,
                   core::time_point now);
    [[nodiscard]] contender* find(std::optional<core::local_id> who) const;

    plan_pointer what_;  // of whoever opened it: keeps the key
    core::local_line line_;
    std::vector<contender*> waiting_;
    hold* holder_ = nullptr;
    core::rivalry rivals_;
    core::courtesy manners_;
    std::size_t users_ = 0;
    bool listed_ = false;  // among those of `rooms` that may be idle
};

}  // namespace holdfast::runtime
