#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "support/file_descriptor.hpp"

namespace holdfast::test {

/// A port on 127.0.0.1 that the kernel chose and that stays ours until destruction.
///
/// It is held by a socket that is bound and never listens. The kernel hands such a port to nobody
/// else, neither to a bind to port 0 nor as the source of a connection; a connection to it is
/// refused; and a server that sets SO_REUSEADDR, as Redis does, can still listen on it. So a server
/// can be started, killed and started again on one port without a race for it.
class port_reservation {
  public:
    port_reservation();
    /// This one. Throws std::system_error if somebody has it.
    explicit port_reservation(std::uint16_t port, const std::string& host = "127.0.0.1");
    std::uint16_t port() const noexcept { return port_; }

  private:
    file_descriptor socket_;
    std::uint16_t port_ = 0;
};

/// Listens on a port of an address of this machine alone; non-blocking. Port 0 lets the kernel
/// choose.
file_descriptor listen_on_loopback(std::uint16_t port, const std::string& host = "127.0.0.1");

std::uint16_t local_port(const file_descriptor& socket);
/// The address that the other end has, "127.0.0.1" unless it chose another one. Empty: it is gone.
std::string peer_host(const file_descriptor& socket);

/// Blocking connections; `bound` limits the connect and every later send.
file_descriptor connect_to_loopback(std::uint16_t port, std::chrono::milliseconds bound);
file_descriptor connect_to_unix_socket(const std::filesystem::path& path,
                                       std::chrono::milliseconds bound);

/// Begins a non-blocking connection; it is made, or has failed, when the socket is writable.
/// None if it failed at once.
file_descriptor begin_connect_to_loopback(std::uint16_t port);

/// Small writes leave at once instead of waiting for an acknowledgement of earlier ones.
void send_without_delay(const file_descriptor& socket);

/// Closes with a reset instead of an orderly end, so that the peer's next read fails.
void close_with_reset(file_descriptor& socket);

/// Waits until the descriptor is readable, at its end or failed; false when `bound` passed first.
bool wait_readable(int descriptor, std::chrono::nanoseconds bound);

/// Waits until something is wanted of one of the descriptors or the deadline, if any, has passed.
/// May return early. Takes no memory, nor does wait_readable().
void poll_until(std::span<pollfd> wanted,
                std::optional<std::chrono::steady_clock::time_point> deadline);

/// The next connection of a listening socket, non-blocking; none if nobody waits.
file_descriptor accept_connection(const file_descriptor& listener);

}  // namespace holdfast::test
