#pragma once

#include <memory>

#include "base/locks.hpp"
#include "holdfast/clock.hpp"
#include "net/endpoint.hpp"
#include "net/transport.hpp"

namespace holdfast::net {

/// What nodes and connections take from the world: the time, and byte streams. Everything else
/// about them is the same in production, in tests and in a simulator.
class network {
  public:
    /// As holdfast::clock means it: it never jumps, and counts suspend.
    [[nodiscard]] virtual clock::time_point now() const noexcept = 0;

    /// What all streams to one endpoint share: null where there is nothing to share. It
    /// may read files. Throws std::system_error, with errc::invalid_option where they cannot be
    /// used.
    [[nodiscard]] virtual std::shared_ptr<credentials> prepare(const endpoint& where)
        HOLDFAST_UNLOCKED = 0;

    /// A stream that is not open yet. `with`: what prepare() gave for this endpoint.
    [[nodiscard]] virtual std::shared_ptr<transport> make_transport(
        const endpoint& where, std::shared_ptr<credentials> with, base::client_mutex& guard,
        transport::events& listener) HOLDFAST_LOCKED = 0;

  protected:
    ~network() = default;
};

}  // namespace holdfast::net
