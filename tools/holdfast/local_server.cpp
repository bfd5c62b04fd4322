#include "local_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include "daemon.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "private_directory.hpp"

namespace holdfast::tool {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Enough for a loaded machine on which fifty others start too.
constexpr milliseconds patience{20'000};
constexpr milliseconds look_every{5};

bool wait_until(milliseconds bound, const std::function<bool()>& condition) {
    const auto give_up = steady_clock::now() + bound;
    while (!condition()) {
        if (steady_clock::now() >= give_up) return false;
        std::this_thread::sleep_for(look_every);
    }
    return true;
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        throw failure(exit_code::configuration,
                      "local: the path of the socket is too long for the system: " + path);
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

std::string percent_encoded(const std::string& path) {
    constexpr std::string_view plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    for (const char character : path) {
        const auto byte = static_cast<unsigned char>(character);
        if (plain.find(character) != std::string_view::npos) {
            encoded += character;
        } else {
            encoded.append("%").append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
        }
    }
    return encoded;
}

bool send_text(const descriptor& socket, std::string_view text) {
    return ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
}

/// True once the other side has closed.
bool closes_within(const descriptor& socket, milliseconds bound) {
    return wait_until(bound, [&] {
        std::array<char, 256> ignored{};
        const auto received = ::recv(socket.get(), ignored.data(), ignored.size(), MSG_DONTWAIT);
        return received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR);
    });
}

pid_t peer_of(const descriptor& socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        throw_errno("SO_PEERCRED");
    }
    return peer.pid;
}

}  // namespace

local_server::local_server()
    : directory_(private_directory_path()), socket_(directory_ + "/redis.sock") {
    address_of(socket_);
    ensure_private(directory_);
}

std::string local_server::url() const { return "unix://" + percent_encoded(socket_); }

// Only "refused" and "no such file" mean that nobody is there. A server that is stopped and whose
// queue is full is there, and its socket must not be taken for a stale one.
descriptor local_server::connect() const {
    const sockaddr_un address = address_of(socket_);
    descriptor socket = checked(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    constexpr timeval bound{1, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        return socket;
    }
    if (errno == ECONNREFUSED || errno == ENOENT) return {};
    throw failure(exit_code::unavailable, "local: the server at " + socket_ +
                                              " does not answer: " + std::strerror(errno) +
                                              "; holdfast local stop ends it");
}

std::optional<pid_t> local_server::running() const {
    const descriptor socket = connect();
    if (!socket) return std::nullopt;
    return peer_of(socket);
}

std::string local_server::start() const {
    if (connect()) return url();
    const descriptor held = lock_directory();
    if (!connect()) launch();
    return url();
}

bool local_server::stop() const {
    const descriptor held = lock_directory();
    const descriptor socket = connect();
    if (!socket) return false;
    const pid_t server = peer_of(socket);
    if (!send_text(socket, "SHUTDOWN NOSAVE\r\n") || !closes_within(socket, milliseconds(2000))) {
        ::kill(server, SIGKILL);  // it does not listen to reason: stopped, or stuck
    }
    if (!wait_until(patience, [&] { return !connect(); })) {
        throw failure(exit_code::unavailable,
                      "local: process " + std::to_string(server) + " does not end");
    }
    ::unlink(socket_.c_str());
    return true;
}

descriptor local_server::lock_directory() const {
    const std::string path = directory_ + "/lock";
    descriptor file = checked(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600),
                              path.c_str());
    if (!wait_until(patience, [&] { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; })) {
        throw failure(exit_code::unavailable, "local: another process has held " + path +
                                                  " for too long while starting or stopping");
    }
    return file;
}

void local_server::launch() const {
    ::unlink(socket_.c_str());  // of a server that was killed: nobody listens, and we hold the lock
    const std::vector<std::string> settings = {"--port",
                                               "0",
                                               "--unixsocket",
                                               socket_,
                                               "--unixsocketperm",
                                               "700",
                                               "--save",
                                               "",
                                               "--appendonly",
                                               "no",
                                               "--dir",
                                               directory_,
                                               "--daemonize",
                                               "no",
                                               "--maxmemory-policy",
                                               "noeviction",
                                               "--logfile",
                                               log_path()};
    daemon_start started;
    for (const char* program : {"redis-server", "valkey-server"}) {
        std::vector<std::string> arguments{program};
        arguments.insert(arguments.end(), settings.begin(), settings.end());
        started = start_daemon(arguments);
        if (started.error != ENOENT) break;
    }
    if (started.error == ENOENT) {
        throw failure(exit_code::unavailable,
                      "local: needs the program redis-server, which is not in PATH; install it "
                      "(Debian: apt install redis-server), or name a server with --url");
    }
    if (started.error != 0) {
        throw failure(exit_code::unavailable, std::string("local: cannot run redis-server: ") +
                                                  std::strerror(started.error));
    }
    wait_until_it_answers(started.process);
}

void local_server::wait_until_it_answers(pid_t server) const {
    const bool ready = wait_until(patience, [&] { return answers() || ::kill(server, 0) != 0; });
    if (!ready || !answers()) {
        throw failure(exit_code::unavailable,
                      "local: redis-server does not come up; it says why in " + log_path());
    }
}

bool local_server::answers() const {
    const descriptor socket = connect();
    if (!socket || !send_text(socket, "PING\r\n")) return false;
    pollfd readable{socket.get(), POLLIN, 0};
    if (::poll(&readable, 1, 1000) != 1) return false;
    std::array<char, 8> answer{};
    const auto received = ::recv(socket.get(), answer.data(), answer.size(), 0);
    return received > 0 && answer[0] == '+';
}

}  // namespace holdfast::tool
