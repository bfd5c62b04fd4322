#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// What a hostile server does with one connection.
struct hostile_behaviour {
    enum class occasion { connection, chunk, command };

    /// Called on each occasion with what was received: nothing when the connection was made, the
    /// bytes of one read, or exactly one whole command. Returns what to send. Connections count
    /// from 0. It runs in the thread of the server.
    using answer_function = std::function<std::string(std::string_view received, int connection)>;

    answer_function answer{};  // none: reads and never answers
    occasion answer_each = occasion::command;
    std::optional<std::size_t> close_after{};  // this many bytes sent; 0: before anything is read
    bool close_with_reset = false;
    std::chrono::nanoseconds byte_interval{0};  // above 0: one byte at a time, this far apart
};

/// The usual enemies.
namespace hostile {

hostile_behaviour silent();
/// The same bytes for every command, whatever it was.
hostile_behaviour always(std::string reply);
/// Bytes that are no RESP, as soon as the connection is made.
hostile_behaviour garbage();
/// What a web server says to a client that does not speak HTTP; then it closes.
hostile_behaviour web_server();
hostile_behaviour closes_at_once();
hostile_behaviour closes_in_mid_reply(std::string reply, std::size_t bytes);
hostile_behaviour trickles(std::string reply, std::chrono::nanoseconds byte_interval);
/// The header of a bulk string of `claimed` bytes, and then nothing.
hostile_behaviour claims_huge_bulk(std::uint64_t claimed = 500'000'000'000);

}  // namespace hostile

/// A server on a port of 127.0.0.1 that the kernel chose, which misbehaves as told and records
/// what it received.
///
/// Thread safety: all members from any thread. The destructor closes every connection.
/// Errors: the constructor throws std::runtime_error.
class hostile_server {
  public:
    /// The same for every connection.
    explicit hostile_server(hostile_behaviour behaviour);
    /// One for each connection in turn; the last also for all that follow. REQUIRES: at least one.
    explicit hostile_server(std::vector<hostile_behaviour> behaviours);
    ~hostile_server();

    hostile_server(const hostile_server&) = delete;
    hostile_server& operator=(const hostile_server&) = delete;

    std::uint16_t port() const noexcept;
    std::string url() const;  // "redis://127.0.0.1:PORT"

    std::size_t connections() const;       // accepted so far
    std::size_t open_connections() const;  // of them, closed by neither side
    /// What one connection, counted from 0, has sent; empty for one that never was.
    std::string received(std::size_t connection) const;
    /// What all connections have sent, one after the other.
    std::string received() const;

  private:
    class engine;
    std::unique_ptr<engine> engine_;
};

}  // namespace holdfast::test
