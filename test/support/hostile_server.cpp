#include "support/hostile_server.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <stdexcept>
#include <thread>
#include <utility>

#include "support/command_splitter.hpp"
#include "support/sockets.hpp"
#include "support/task_queue.hpp"

namespace holdfast::test {

namespace {

using clock = std::chrono::steady_clock;
using occasion = hostile_behaviour::occasion;

/// One connection; kept, closed, for what it received.
class hostile_connection {
  public:
    hostile_connection(file_descriptor socket, int number, hostile_behaviour behaviour)
        : socket_{std::move(socket)}, number_{number}, behaviour_{std::move(behaviour)} {
        if (behaviour_.answer_each == occasion::connection) answer({});
        close_if_due();
    }

    bool open() const { return static_cast<bool>(socket_); }
    const std::string& received() const { return received_; }

    pollfd wanted() const {
        const int events = POLLIN | (blocked_ ? POLLOUT : 0);
        return {socket_.get(), static_cast<short>(events), 0};
    }
    std::optional<clock::time_point> next_due() const {
        if (!open() || blocked_ || to_send_.empty()) return std::nullopt;
        return next_byte_;
    }

    void read();
    void write(clock::time_point now);

  private:
    void answer(std::string_view asked) {
        if (behaviour_.answer) to_send_ += behaviour_.answer(asked, number_);
    }
    void answer_commands();
    void send(std::size_t size);
    std::size_t allowance() const;
    void close_if_due();

    file_descriptor socket_;
    int number_;
    hostile_behaviour behaviour_;
    std::string received_;
    std::size_t answered_ = 0;  // of received_
    std::string to_send_;
    std::size_t sent_ = 0;
    clock::time_point next_byte_{};
    bool blocked_ = false;
};

void hostile_connection::read() {
    char buffer[65536];
    const ssize_t size = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) return socket_.reset();
    const std::string_view chunk{buffer, static_cast<std::size_t>(size)};
    received_ += chunk;
    if (behaviour_.answer_each == occasion::chunk) answer(chunk);
    if (behaviour_.answer_each == occasion::command) answer_commands();
}

void hostile_connection::answer_commands() {
    while (answered_ < received_.size()) {
        const auto rest = std::string_view{received_}.substr(answered_);
        const std::size_t length = first_command_length(rest);
        if (length == 0) return;
        answer(rest.substr(0, length));
        answered_ += length;
    }
}

void hostile_connection::write(clock::time_point now) {
    blocked_ = false;
    const bool trickling = behaviour_.byte_interval.count() > 0;
    if (!open() || to_send_.empty() || (trickling && now < next_byte_)) return;
    send(std::min(trickling ? 1 : to_send_.size(), allowance()));
    next_byte_ = now + behaviour_.byte_interval;
    close_if_due();
}

void hostile_connection::send(std::size_t size) {
    const ssize_t written = ::send(socket_.get(), to_send_.data(), size, MSG_NOSIGNAL);
    if (written < 0) {
        blocked_ = errno == EAGAIN || errno == EINTR;
        if (!blocked_) socket_.reset();
        return;
    }
    to_send_.erase(0, static_cast<std::size_t>(written));
    sent_ += static_cast<std::size_t>(written);
}

std::size_t hostile_connection::allowance() const {
    return behaviour_.close_after ? *behaviour_.close_after - sent_ : to_send_.size();
}

void hostile_connection::close_if_due() {
    if (!open() || behaviour_.close_after != sent_) return;
    if (behaviour_.close_with_reset) return close_with_reset(socket_);
    socket_.reset();
}

}  // namespace

/// Everything but `tasks_` and `port_` belongs to the thread.
class hostile_server::engine {
  public:
    explicit engine(std::vector<hostile_behaviour> behaviours)
        : behaviours_{std::move(behaviours)}, thread_{[this] { serve(); }} {}

    ~engine() {
        tasks_.run([this] { stopping_ = true; });
        thread_.join();
    }

    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    std::uint16_t port() const noexcept { return port_; }

    template <typename Value>
    Value ask(const std::function<Value(const std::deque<hostile_connection>&)>& question) {
        Value result{};
        tasks_.run([&] { result = question(connections_); });
        return result;
    }

  private:
    void serve();
    std::vector<pollfd> wanted() const;
    std::optional<clock::time_point> next_due() const;
    void accept_all();

    const std::vector<hostile_behaviour> behaviours_;
    file_descriptor listener_ = listen_on_loopback(0);
    const std::uint16_t port_ = local_port(listener_);
    std::deque<hostile_connection> connections_;
    bool stopping_ = false;
    task_queue tasks_;
    std::thread thread_;  // last: uses all of the above
};

void hostile_server::engine::serve() {
    ::prctl(PR_SET_TIMERSLACK, 1);
    while (!stopping_) {
        std::vector<pollfd> descriptors = wanted();
        poll_until(descriptors, next_due());
        for (std::size_t i = 0; i < connections_.size(); ++i)
            if ((descriptors[i + 2].revents & ~POLLOUT) != 0) connections_[i].read();
        accept_all();
        const auto now = clock::now();
        for (hostile_connection& connection : connections_) connection.write(now);
        tasks_.run_pending();
    }
}

/// The queue, the listener, then all connections; closed ones with a descriptor that poll ignores.
std::vector<pollfd> hostile_server::engine::wanted() const {
    std::vector<pollfd> descriptors{{tasks_.descriptor(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const hostile_connection& connection : connections_)
        descriptors.push_back(connection.wanted());
    return descriptors;
}

std::optional<clock::time_point> hostile_server::engine::next_due() const {
    std::optional<clock::time_point> earliest;
    for (const hostile_connection& connection : connections_) {
        const auto due = connection.next_due();
        if (due && (!earliest || *due < *earliest)) earliest = due;
    }
    return earliest;
}

void hostile_server::engine::accept_all() {
    while (file_descriptor socket = accept_connection(listener_)) {
        const std::size_t number = connections_.size();
        connections_.emplace_back(std::move(socket), static_cast<int>(number),
                                  behaviours_[std::min(number, behaviours_.size() - 1)]);
    }
}

hostile_server::hostile_server(hostile_behaviour behaviour)
    : hostile_server{std::vector{std::move(behaviour)}} {}

hostile_server::hostile_server(std::vector<hostile_behaviour> behaviours) {
    if (behaviours.empty()) throw std::runtime_error{"a hostile server needs a behaviour"};
    engine_ = std::make_unique<engine>(std::move(behaviours));
}

hostile_server::~hostile_server() = default;

std::uint16_t hostile_server::port() const noexcept { return engine_->port(); }

std::string hostile_server::url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

std::size_t hostile_server::connections() const {
    return engine_->ask<std::size_t>([](const auto& all) { return all.size(); });
}

std::size_t hostile_server::open_connections() const {
    return engine_->ask<std::size_t>([](const auto& all) {
        return std::count_if(all.begin(), all.end(), [](const auto& one) { return one.open(); });
    });
}

std::string hostile_server::received(std::size_t connection) const {
    return engine_->ask<std::string>([=](const auto& all) {
        return connection < all.size() ? all[connection].received() : std::string{};
    });
}

std::string hostile_server::received() const {
    return engine_->ask<std::string>([](const auto& all) {
        std::string joined;
        for (const hostile_connection& one : all) joined += one.received();
        return joined;
    });
}

}  // namespace holdfast::test
