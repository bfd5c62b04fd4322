#include "support/raw_client.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

#include "support/errors.hpp"
#include "support/sockets.hpp"

namespace holdfast::test {

namespace {

std::string encode(const std::vector<std::string>& arguments) {
    std::string bytes = "*" + std::to_string(arguments.size()) + "\r\n";
    for (const std::string& argument : arguments)
        bytes += "$" + std::to_string(argument.size()) + "\r\n" + argument + "\r\n";
    return bytes;
}

std::string join_lines(const std::vector<reply>& elements) {
    std::string joined;
    for (const reply& element : elements) {
        if (&element != &elements.front()) joined += '\n';
        joined += to_string(element);
    }
    return joined;
}

}  // namespace

std::string to_string(const reply& value) {
    switch (value.type) {
        case reply::kind::nil: return "(nil)";
        case reply::kind::array:
        case reply::kind::push: return join_lines(value.elements);
        case reply::kind::text:
        case reply::kind::error:
        case reply::kind::integer: break;
    }
    return value.text;
}

raw_client::raw_client(file_descriptor socket, milliseconds timeout)
    : socket_{std::move(socket)}, timeout_{timeout} {}

raw_client raw_client::connect_tcp(std::uint16_t port, milliseconds timeout) {
    return {connect_to_loopback(port, timeout), timeout};
}

raw_client raw_client::connect_unix(const std::filesystem::path& path, milliseconds timeout) {
    return {connect_to_unix_socket(path, timeout), timeout};
}

reply raw_client::command(const std::vector<std::string>& arguments) {
    send(arguments);
    return read_reply();
}

void raw_client::send(const std::vector<std::string>& arguments) { send_raw(encode(arguments)); }

void raw_client::send_raw(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t size = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) throw_errno("raw client: cannot send");
        bytes.remove_prefix(static_cast<std::size_t>(size));
    }
}

reply raw_client::read_reply() {
    deadline_ = std::chrono::steady_clock::now() + timeout_;
    return parse();
}

reply raw_client::parse() {
    const std::string line = read_line();
    const char type = line.empty() ? '\0' : line.front();
    const std::string rest = line.empty() ? std::string{} : line.substr(1);
    const auto text = [](std::string value) {
        return reply{.type = reply::kind::text, .text = std::move(value)};
    };
    const auto integer = [](std::string digits) {
        const std::int64_t value = std::stoll(digits);
        return reply{.type = reply::kind::integer, .text = std::move(digits), .integer = value};
    };
    const auto bulk = [&](reply::kind kind) {
        const std::int64_t size = std::stoll(rest);
        if (size < 0) return reply{};
        std::string value = read_bytes(static_cast<std::size_t>(size));
        read_bytes(2);
        return reply{.type = kind, .text = std::move(value)};
    };
    const auto aggregate = [&](reply::kind kind, std::int64_t per_entry) {
        const std::int64_t size = std::stoll(rest) * per_entry;
        if (size < 0) return reply{};
        reply whole{.type = kind};
        for (std::int64_t index = 0; index < size; ++index) whole.elements.push_back(parse());
        return whole;
    };
    switch (type) {
        case '+':
        case ',':
        case '(': return text(rest);
        case '-': return reply{.type = reply::kind::error, .text = rest};
        case ':': return integer(rest);
        case '#': return integer(rest == "t" ? "1" : "0");
        case '_': return reply{};
        case '$':
        case '=': return bulk(reply::kind::text);
        case '!': return bulk(reply::kind::error);
        case '*':
        case '~': return aggregate(reply::kind::array, 1);
        case '%': return aggregate(reply::kind::array, 2);
        case '>': return aggregate(reply::kind::push, 1);
        default: throw std::runtime_error{"raw client: not a reply: " + line};
    }
}

std::string raw_client::read_line() {
    std::size_t end = 0;
    while ((end = unread_.find("\r\n")) == std::string::npos) receive();
    std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 2);
    return line;
}

std::string raw_client::read_bytes(std::size_t size) {
    while (unread_.size() < size) receive();
    std::string bytes = unread_.substr(0, size);
    unread_.erase(0, size);
    return bytes;
}

void raw_client::receive() {
    if (!wait_readable(socket_.get(), deadline_ - std::chrono::steady_clock::now()))
        throw std::runtime_error{"raw client: no reply within " + std::to_string(timeout_.count()) +
                                 " ms"};
    char buffer[16384];
    const ssize_t size = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (size < 0) throw_errno("raw client: cannot receive");
    if (size == 0) throw std::runtime_error{"raw client: the server closed the connection"};
    unread_.append(buffer, static_cast<std::size_t>(size));
}

}  // namespace holdfast::test
