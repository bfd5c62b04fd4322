#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/locks.hpp"
#include "net/network.hpp"
#include "runtime/driving/driver.hpp"

namespace holdfast::runtime {

/// All that one client takes from the world: the time and byte streams (net::network), chance, a
/// name, and a driver that calls it when a time has come or bytes have arrived, and calls users'
/// code back.
///
/// Production has poll, futexes, Asio and CLOCK_BOOTTIME (src/platform/environment.hpp); tests and
/// simulators have a queue of events, and no threads. Nothing else in src/runtime and src/net
/// reaches for a clock, a socket or a thread: test/repository/layers sees to it.
///
/// One for each client, and made before it: the clock of one client may differ from another's.
class environment : public net::network {
  public:
    virtual ~environment() = default;

    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;

    /// Fills it with bits that nobody can guess. Throws std::system_error where there are none.
    virtual void draw(std::span<std::uint8_t> into) = 0;

    /// Who runs this, for people who read an owner token: `:user@host:pid:`.
    [[nodiscard]] virtual std::string signature() const = 0;

    /// Called once, by the client that is driven. It outlives the driver, and so does this.
    [[nodiscard]] virtual std::unique_ptr<driver> make_driver(base::client_mutex& guard,
                                                              driver::machinery& driven) = 0;

  protected:
    environment() = default;
};

}  // namespace holdfast::runtime
