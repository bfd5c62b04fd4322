#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/locks.hpp"
#include "holdfast/clock.hpp"
#include "net/endpoint.hpp"
#include "net/failure.hpp"

namespace holdfast::net {

/// Where a server was found, and how many belong to its group.
struct location {
    endpoint where;
    std::size_t members = 0;  // the master and its replicas, those that are down too; 0: not known
};

/// Knows where the server is that a node stands for. Asked before every connect: it may have moved,
/// and whoever is to be asked for that may be a server, too.
///
/// Everything is called with the client's lock held, and so are the events.
class resolver {
  public:
    class asker {
      public:
        /// It differs from what the node was made with in host and port alone.
        virtual void on_found(const location& found) noexcept HOLDFAST_LOCKED = 0;
        virtual void on_not_found(const failure& why) noexcept HOLDFAST_LOCKED = 0;

        /// Unasked, after it was found: it is elsewhere now, or its group has changed.
        virtual void on_moved(const location& found) noexcept HOLDFAST_LOCKED = 0;

        /// What has to be driven for it has changed.
        virtual void on_change() noexcept HOLDFAST_LOCKED = 0;
        virtual std::uint64_t chance() noexcept HOLDFAST_LOCKED = 0;

      protected:
        ~asker() = default;
    };

    virtual ~resolver() = default;

    /// Exactly one of on_found() and on_not_found() follows, before this returns or later, unless
    /// it is withdrawn. REQUIRES: nothing is asked that was neither answered nor withdrawn, and
    /// whoever asked first is who asks.
    virtual void ask(asker& who) noexcept HOLDFAST_LOCKED = 0;

    /// The question is not to be answered any more: the asker has waited for too long.
    virtual void withdraw() noexcept HOLDFAST_LOCKED = 0;

    /// What was found last was not what it was said to be, or not there.
    virtual void doubt() noexcept HOLDFAST_LOCKED {}

    /// What was found last is there, and does not do what the one that was meant would: somebody
    /// else is asked before long. Nobody has to leave it before that is answered.
    virtual void suspect() noexcept HOLDFAST_LOCKED {}

    /// No event comes any more, and nothing is asked any more.
    virtual void close() noexcept HOLDFAST_LOCKED {}

    /// Whether only a server that says that it is a master is the one that was meant.
    [[nodiscard]] virtual bool names_masters() const { return false; }

    /// What it has under way itself is driven along with its node, as of node. `busy`: also while
    /// nobody waits for anything.
    [[nodiscard]] virtual bool busy() const HOLDFAST_LOCKED { return false; }
    virtual void expire(clock::time_point) noexcept HOLDFAST_LOCKED {}
    [[nodiscard]] virtual clock::time_point wake_at() const HOLDFAST_LOCKED {
        return clock::time_point::max();
    }
    [[nodiscard]] virtual bool silent() const HOLDFAST_LOCKED { return true; }
    [[nodiscard]] virtual int descriptor() const HOLDFAST_LOCKED { return -1; }
    virtual void take_in() noexcept HOLDFAST_LOCKED {}
    virtual void watch() HOLDFAST_LOCKED {}
    virtual void abandon() noexcept {}
};

/// One address for ever.
class fixed_address final : public resolver {
  public:
    explicit fixed_address(endpoint where) : found_{std::move(where)} {}

    void ask(asker& who) noexcept override HOLDFAST_LOCKED { who.on_found(found_); }
    void withdraw() noexcept override HOLDFAST_LOCKED {}

  private:
    location found_;
};

}  // namespace holdfast::net
