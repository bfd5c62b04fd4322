#include "support/sockets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include "support/errors.hpp"

namespace holdfast::test {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

file_descriptor new_socket(int family, int flags = 0) {
    file_descriptor socket{::socket(family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)};
    if (!socket) throw_errno("cannot create a socket");
    return socket;
}

template <typename Value>
void set_option(const file_descriptor& socket, int level, int option, const Value& value) {
    if (::setsockopt(socket.get(), level, option, &value, sizeof value) != 0)
        throw_errno("cannot set socket option " + std::to_string(option));
}

void bind_to_loopback(const file_descriptor& socket, std::uint16_t port, const std::string& host) {
    set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
    sockaddr_in address = loopback(port);
    if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1 ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw_errno("cannot bind to " + host + ":" + std::to_string(port));
}

timespec to_timespec(nanoseconds duration) {
    const auto whole = std::chrono::floor<std::chrono::seconds>(duration);
    return {.tv_sec = whole.count(), .tv_nsec = (duration - whole).count()};
}

/// On Linux the send timeout bounds connect() as well.
void bound_connect_and_sends(const file_descriptor& socket, milliseconds bound) {
    const timespec time = to_timespec(bound);
    set_option(socket, SOL_SOCKET, SO_SNDTIMEO, timeval{time.tv_sec, time.tv_nsec / 1000});
}

/// A signal interrupts a connect that has a timeout; asked again, it goes on, or was done already.
template <typename Address>
void connect(const file_descriptor& socket, const Address& address, const std::string& name) {
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    while (::connect(socket.get(), generic, sizeof address) != 0) {
        if (errno == EISCONN) return;
        if (errno != EINTR) throw_errno("cannot connect to " + name);
    }
}

}  // namespace

port_reservation::port_reservation() : port_reservation(0) {}

port_reservation::port_reservation(std::uint16_t port, const std::string& host)
    : socket_{new_socket(AF_INET)} {
    bind_to_loopback(socket_, port, host);
    port_ = local_port(socket_);
}

file_descriptor listen_on_loopback(std::uint16_t port, const std::string& host) {
    file_descriptor socket = new_socket(AF_INET, SOCK_NONBLOCK);
    bind_to_loopback(socket, port, host);
    if (::listen(socket.get(), SOMAXCONN) != 0)
        throw_errno("cannot listen on " + host + ":" + std::to_string(port));
    return socket;
}

std::uint16_t local_port(const file_descriptor& socket) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw_errno("cannot read the port of a socket");
    return ntohs(address.sin_port);
}

std::string peer_host(const file_descriptor& socket) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    std::array<char, INET_ADDRSTRLEN> text{};
    if (::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
    ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    return text.data();
}

file_descriptor connect_to_loopback(std::uint16_t port, milliseconds bound) {
    file_descriptor socket = new_socket(AF_INET);
    bound_connect_and_sends(socket, bound);
    send_without_delay(socket);
    const sockaddr_in address = loopback(port);
    connect(socket, address, "127.0.0.1:" + std::to_string(port));
    return socket;
}

file_descriptor connect_to_unix_socket(const std::filesystem::path& path, milliseconds bound) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string& name = path.native();
    if (name.size() >= sizeof address.sun_path)
        throw std::runtime_error{"too long for the path of a unix socket: " + name};
    std::memcpy(address.sun_path, name.data(), name.size());

    file_descriptor socket = new_socket(AF_UNIX);
    bound_connect_and_sends(socket, bound);
    connect(socket, address, name);
    return socket;
}

file_descriptor begin_connect_to_loopback(std::uint16_t port) {
    file_descriptor socket = new_socket(AF_INET, SOCK_NONBLOCK);
    send_without_delay(socket);
    const sockaddr_in address = loopback(port);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
        errno != EINPROGRESS)
        socket.reset();
    return socket;
}

void send_without_delay(const file_descriptor& socket) {
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

void close_with_reset(file_descriptor& socket) {
    if (!socket) return;
    set_option(socket, SOL_SOCKET, SO_LINGER, linger{.l_onoff = 1, .l_linger = 0});
    socket.reset();
}

bool wait_readable(int descriptor, nanoseconds bound) {
    const auto deadline = steady_clock::now() + bound;
    pollfd wanted{.fd = descriptor, .events = POLLIN, .revents = 0};
    do poll_until({&wanted, 1}, deadline);
    while (wanted.revents == 0 && steady_clock::now() < deadline);
    return wanted.revents != 0;
}

void poll_until(std::span<pollfd> wanted, std::optional<steady_clock::time_point> deadline) {
    timespec left{};
    if (deadline) left = to_timespec(std::max(*deadline - steady_clock::now(), nanoseconds{0}));
    for (pollfd& entry : wanted) entry.revents = 0;
    if (::ppoll(wanted.data(), wanted.size(), deadline ? &left : nullptr, nullptr) < 0 &&
        errno != EINTR)
        throw_errno("cannot poll");
}

file_descriptor accept_connection(const file_descriptor& listener) {
    file_descriptor socket{
        ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (socket) send_without_delay(socket);
    return socket;
}

}  // namespace holdfast::test
