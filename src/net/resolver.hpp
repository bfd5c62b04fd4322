#pragma once

#include <cstddef>
#include <utility>

#include "base/locks.hpp"
#include "net/endpoint.hpp"
#include "net/failure.hpp"

namespace holdfast::net {

/// Where a node's server was found.
struct location {
    endpoint where;
    std::size_t members = 0;  // of its replication group, those that are down included; 0: unknown
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

      protected:
        ~asker() = default;
    };

    virtual ~resolver() = default;

    /// Exactly one event follows, before this returns or later, unless it is withdrawn. REQUIRES:
    /// nothing is asked that was neither answered nor withdrawn.
    virtual void ask(asker& who) noexcept HOLDFAST_LOCKED = 0;

    /// No event comes any more. The asker has waited for too long, or goes away.
    virtual void withdraw() noexcept HOLDFAST_LOCKED = 0;
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
