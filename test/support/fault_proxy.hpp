#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace holdfast::test {

enum class direction { to_server, to_client };

struct proxy_counters {
    std::size_t connections = 0;  // accepted so far
    std::size_t open = 0;         // of them, still there on either side
    std::size_t bytes_to_server = 0;
    std::size_t bytes_to_client = 0;
};

/// A faulty network in front of a server on 127.0.0.1: passes everything on until told otherwise.
///
/// No fault makes what TCP rules out: bytes keep their order, and none is missing in the middle.
/// Silence holds bytes, and the end of a connection, back; they arrive late after heal(), as
/// retransmitted ones would. For bytes that never arrive call reset_connections() before heal().
/// A connection is always accepted by the proxy itself, at once, unless refused; if the server
/// then refuses the proxy, the client sees a reset.
///
/// Thread safety: all members from any thread. Each returns when the change is in force: after
/// silence() not one byte more is passed on. Bytes under way keep the delay that they started with.
/// Errors: the constructor throws std::runtime_error.
class fault_proxy {
  public:
    using nanoseconds = std::chrono::nanoseconds;

    explicit fault_proxy(std::uint16_t server_port);
    /// Listens at this address of the machine itself, like 127.0.0.2, and at this port.
    fault_proxy(std::uint16_t server_port, const std::string& host, std::uint16_t port);
    ~fault_proxy();

    fault_proxy(const fault_proxy&) = delete;
    fault_proxy& operator=(const fault_proxy&) = delete;

    std::uint16_t port() const noexcept;
    std::string url() const;  // "redis://127.0.0.1:PORT"

    /// Every byte takes `time`, and up to `jitter` more, to arrive.
    void delay(direction which, nanoseconds time, nanoseconds jitter = nanoseconds{0});
    /// Nothing arrives any more. One direction alone: the server hears and is not heard, or
    /// speaks and is not spoken to.
    void silence(direction which);
    void silence();
    /// The same, both ways, for who comes from some addresses, now and later: two who reach one
    /// server by one port, and of whom one is cut off. Takes the place of what was said before.
    void silence_from(std::function<bool(const std::string& host)> whom);
    /// Every byte arrives in a segment of its own.
    void split(bool on);
    /// New connections are refused as by a port where nobody listens.
    void refuse(bool on);
    /// Resets the connection that carries the last of the next `bytes` (of all connections
    /// together) right after it; 0 resets before the next byte. Happens once.
    void cut_after(direction which, std::size_t bytes);
    void reset_connections();
    /// Ends every fault. Connections stay.
    void heal();

    proxy_counters counters() const;

  private:
    class engine;
    std::unique_ptr<engine> engine_;
};

}  // namespace holdfast::test
