#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

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
    virtual void turn(core::time_point now) = 0;
    virtual void told(core::node_index where, core::time_point now) = 0;
    virtual void abort() = 0;  // the client is closed

  protected:
    ~contender() = default;
};

/// One waiting room per key that this client holds or waits for. Who goes first is decided by
/// core::local_line; this finds the room, and passes the word on.
class rooms {
  public:
    void join(const plan_pointer& what, contender& who, core::time_point now);
    void leave(std::string_view key, contender& who, core::time_point now);

    /// `lease` holds the key now. Call it before its contender leaves.
    void took(const plan_pointer& what, hold& lease);
    void freed(std::string_view key, hold& lease, core::time_point now);

    /// The lease of this client that is believed to hold the key, if any.
    [[nodiscard]] hold* holder(std::string_view key) const;

    /// Whether others than this client have lately been after the key: kept while somebody here
    /// waits for it or holds it.
    void rivalled(std::string_view key, bool they_are);
    [[nodiscard]] bool rivalled(std::string_view key) const;

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
        bool rivalled = false;
    };
    using map = std::unordered_map<std::string_view, room>;

    room& open(const plan_pointer& what);
    void give_turn(const room& where, std::optional<core::local_id> to, core::time_point now);
    void close_if_idle(map::iterator where);

    map rooms_;

    /// Closed ones, with what they have allocated: a lock that is taken again and again needs a
    /// room every time.
    std::vector<map::node_type> spares_;
};

}  // namespace holdfast::runtime
