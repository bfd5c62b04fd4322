#pragma once

#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/contend.hpp"
#include "core/courtesy.hpp"
#include "core/estate.hpp"
#include "core/local_line.hpp"
#include "core/node_set.hpp"
#include "core/time.hpp"
#include "runtime/plan.hpp"

namespace holdfast::runtime {

class hold;

/// Somebody who stands in line for a key.
class contender {
  public:
    [[nodiscard]] virtual core::local_id id() const = 0;
    virtual void turn(const core::courtesy::gap& left, core::time_point now) = 0;
    virtual void told(core::node_index where, core::time_point now) = 0;
    virtual void abort() = 0;  // the client is closed

    /// The holder of this process lets go. Returns whether this one holds the lock now instead.
    virtual bool inherit(const core::estate& left, const hold& from, core::time_point now) = 0;

  protected:
    ~contender() = default;
};

/// One waiting room per key that this client holds or waits for. Who goes first is decided by
/// core::local_line, and when others may, by core::courtesy; this finds the room, and passes the
/// word on.
class rooms {
  public:
    void join(const plan_pointer& what, contender& who, core::time_point now);
    void leave(std::string_view key, contender& who, core::time_point now);

    /// `lease` holds the key now. Call it before its contender leaves.
    void took(const plan_pointer& what, hold& lease);
    void freed(std::string_view key, hold& lease, core::time_point now);

    /// Lets the next in line go on with what `lease` leaves. Returns false if nobody can.
    bool pass_on(std::string_view key, const hold& lease, const core::estate& left,
                 core::time_point now);

    /// How many wait for the key here.
    [[nodiscard]] std::size_t waiting_for(std::string_view key) const;

    /// The lease of this client that is believed to hold the key, if any.
    [[nodiscard]] hold* holder(std::string_view key) const;

    /// What this client has lately learned about others who are after the key.
    [[nodiscard]] core::rivalry rivals(std::string_view key) const;

    /// Somebody of this client met another holder, or got the key from the servers.
    void denied(std::string_view key);
    void won(std::string_view key, const core::rivalry& met, core::time_point asked_at,
             core::time_point now);

    /// A server said that the key changed, or that all keys did.
    void told(std::string_view key, core::node_index where, core::time_point now);
    void told_all(core::node_index where, core::time_point now);

    void abort_all();

  private:
    struct room {
        plan_pointer what;  // of whoever opened it: keeps the key that the map knows it by
        core::local_line line{};
        std::vector<contender*> waiting{};
        hold* holder = nullptr;
        core::rivalry rivals{};
        core::courtesy manners{};
        bool listed = false;  // in `idle_`
    };
    using map = std::unordered_map<std::string_view, room>;

    room& open(const plan_pointer& what);
    static contender* find(const room& where, std::optional<core::local_id> who);
    void give_turn(const room& where, std::optional<core::local_id> to,
                   const core::courtesy::gap& left, core::time_point now);
    void close_if_idle(map::iterator where);

    map rooms_;

    /// Rooms that nobody is in are kept for a while, with what they have learned and allocated: a
    /// lock that was taken is often taken again.
    std::deque<std::string_view> idle_;  // or in use again by now
};

}  // namespace holdfast::runtime
