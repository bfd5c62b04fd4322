#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/server/server.hpp"
#include "sim/test/real_server.hpp"

/// A real server and a simulated one that are asked the same, to compare their bytes.
namespace holdfast::sim {

using command = std::vector<std::string>;
using batch = std::vector<command>;  // what is sent in one write

std::string encoded(const batch& commands);

/// What differs between two servers that do the same.
enum class mask : std::uint8_t {
    nothing,
    identity,  // the `id` and `version` of HELLO; the number of CLIENT ID
    times,     // integers and bulk strings of four digits and more
    clock,     // both words of TIME, also how long they are
    offsets,   // of the replication, and its ids
};
std::string masked(std::string bytes, mask what);

/// Keeps what a server has written, in order; "<closed>" where it has closed the connection.
class recorder final : public server_wire {
  public:
    void reply(connection to, std::string_view bytes) override { written[to] += bytes; }
    void push(connection to, std::string_view bytes) override { written[to] += bytes; }
    void hang_up(connection whom) override { written[whom] += "<closed>"; }

    std::map<connection, std::string> written;
};

class raw_connection {
  public:
    explicit raw_connection(const std::string& socket);
    ~raw_connection();
    raw_connection(const raw_connection&) = delete;
    raw_connection& operator=(const raw_connection&) = delete;

    void send(std::string_view bytes);

    /// All that comes up to `end`, or until the server closes the connection; for 20 s at most.
    std::string receive_until(std::string_view end);
    [[nodiscard]] bool closed() const { return closed_; }

  private:
    int socket_ = -1;
    bool closed_ = false;
};

class both_servers {
  public:
    explicit both_servers(const std::vector<std::string>& options = {}, server_settings how = {});

    /// A connection to both. Returns its number here.
    std::size_t connect();

    /// Sends the same to both, in one write, and compares what that brings to any connection.
    void ask(std::size_t who, const batch& commands, mask what = mask::nothing);
    void send(std::size_t who, std::string_view bytes, mask what = mask::nothing);

    /// Sends the same to both, and compares nothing yet: one of the commands does not end.
    void begin(std::size_t who, const batch& commands);
    /// Both have, or will soon.
    void finish();
    /// Where it ends when its time is over, which passes for ours in a moment.
    void send_and_end_waits(std::size_t who, const batch& commands);
    /// Compares what came before both have closed it.
    void compare_closed(std::size_t who);

    /// Of a command that only the real one is given: what it answers.
    std::string ask_real(std::size_t who, const command& words);

    /// Compares what has come to any connection, without that anything was asked.
    void compare(mask what = mask::nothing);

    server& ours() { return ours_; }
    real_server& real() { return real_; }
    [[nodiscard]] server::connection number_of(std::size_t who) const { return pairs_[who]->ours; }

  private:
    struct pair {
        explicit pair(const std::string& socket) : real(socket) {}
        raw_connection real;
        server::connection ours = 0;
    };

    /// Asks for what no server knows: whatever state one is in, it says so, and by then has written
    /// all that came before.
    void compare_one(std::size_t who, mask what);

    real_server real_;
    recorder out_;
    script_library scripts_;
    server ours_;
    std::vector<std::unique_ptr<pair>> pairs_;
    unsigned markers_ = 0;
    std::optional<std::size_t> begun_;  // nothing more is sent there
};

/// For arguments to `ours()`.
keyspace::wall_time wall_clock_now();

}  // namespace holdfast::sim
