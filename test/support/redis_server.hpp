#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/raw_client.hpp"
#include "support/scratch_directory.hpp"
#include "support/sockets.hpp"

namespace holdfast::test {

struct tls_files {
    std::filesystem::path certificate;
    std::filesystem::path key;
    std::filesystem::path authority;
    bool require_client_certificate = false;
};

struct redis_options {
    std::vector<std::string> configuration{};  // lines of redis.conf, after ours: they win
    std::string password{};                    // of the default user
    std::optional<tls_files> tls{};            // adds a TLS port beside the plain one
    bool append_only = false;                  // with appendfsync always
    bool cluster = false;                      // cluster-enabled, with a bus port of its own
    environment_variables environment{};       // LD_PRELOAD and its like
    std::vector<std::string> arguments{};      // after the configuration file, like --sentinel
    std::string program{};                     // "a:b": in turn; "": $HOLDFAST_TEST_SERVER
};

/// What a restart finds of the data.
enum class data { kept, lost };

/// A real server of its own: on a port of 127.0.0.1 that the kernel chose and on a unix socket, in
/// a scratch directory, without persistence unless asked. It answers when the constructor returns.
///
///   running -- pause() -----------------> paused   (connections are accepted, nothing answered)
///      ^  \--- stop(), kill_hard() -----> down     (connections are refused; the port stays ours)
///      |_______ resume(), restart() ______|
///
/// Thread safety: state changes, running() and process_id() from one thread at a time; all else
/// from any thread meanwhile.
/// Errors: std::runtime_error, with the log of the server when it did not start.
class redis_server {
  public:
    explicit redis_server(redis_options options = {});
    ~redis_server();

    redis_server(const redis_server&) = delete;
    redis_server& operator=(const redis_server&) = delete;

    std::uint16_t port() const noexcept { return port_.port(); }
    /// REQUIRES: options with tls.
    std::uint16_t tls_port() const { return tls_port_.value().port(); }
    /// REQUIRES: options with cluster. With tls, too: Redis 7.
    std::uint16_t bus_port() const { return bus_port_.value().port(); }
    std::filesystem::path socket_path() const { return directory_ / "redis.sock"; }

    /// Without the password: "redis://127.0.0.1:PORT", "rediss://...", "unix:///...".
    std::string url() const;
    std::string tls_url() const;
    std::string unix_url() const;

    const std::filesystem::path& directory() const noexcept { return directory_.path(); }
    std::string log() const;

    bool running() { return process_ && process_->running(); }
    pid_t process_id() const { return process_.value().id(); }

    void kill_hard();
    void stop();
    void pause();
    void resume();

    /// Ends the server if it runs and starts it again on the same ports.
    /// kept: a running server saves first; one that was killed has what its append-only file holds.
    /// lost: nothing is left.
    void restart(data fate);
    /// Starts a server that is down, with the data it left on disk.
    void start();
    /// The same without waiting until it answers.
    void start_loading() { launch(); }
    /// Adds lines to the configuration, for the next start.
    void configure(const std::vector<std::string>& lines);

    /// Asks as an administrator of the test's own, whatever the password and the rules of others,
    /// over a new connection to the unix socket.
    reply query(const std::vector<std::string>& arguments) const;
    /// As query(), as text; throws on an error reply.
    std::string command(const std::vector<std::string>& arguments) const;

    std::optional<std::string> get(const std::string& key) const;
    bool exists(const std::string& key) const;
    /// In milliseconds; -1 without an expiry, -2 without the key.
    std::int64_t pttl(const std::string& key) const;

  private:
    void reserve_bus();
    void write_configuration() const;
    void restart_with_snapshot();
    void remove_data() const;
    void launch();
    void wait_until_ready();
    bool answers() const;

    redis_options options_;
    scratch_directory directory_{"redis"};
    port_reservation port_;
    std::optional<port_reservation> tls_port_;
    std::optional<port_reservation> bus_port_;
    std::optional<process> process_;
};

}  // namespace holdfast::test
