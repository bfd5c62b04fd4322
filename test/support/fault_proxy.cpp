#include "support/fault_proxy.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <list>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "support/faulty_stream.hpp"
#include "support/sockets.hpp"
#include "support/task_queue.hpp"

namespace holdfast::test {

namespace {

using clock = std::chrono::steady_clock;

struct proxied_connection {
    file_descriptor client;
    file_descriptor server;
    std::string host;        // of the client
    bool connecting = true;  // to the server
    bool silent = false;     // beside what is wrong with all of them
    bool dead = false;
    faulty_stream to_server{};
    faulty_stream to_client{};
};

bool connect_failed(const file_descriptor& socket) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    return error != 0;
}

}  // namespace

/// Everything but `tasks_` and `reservation_` belongs to the thread.
class fault_proxy::engine {
  public:
    engine(std::uint16_t server_port, std::string host, std::uint16_t port)
        : server_port_{server_port},
          host_{std::move(host)},
          reservation_{port, host_},
          thread_{[this] { serve(); }} {}

    ~engine() {
        tasks_.run([this] { stopping_ = true; });
        thread_.join();
    }

    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    void run(const std::function<void(engine&)>& change) {
        tasks_.run([this, &change] { change(*this); });
    }

    std::uint16_t port() const noexcept { return reservation_.port(); }

    stream_faults& faults(direction which) {
        return which == direction::to_server ? to_server_ : to_client_;
    }

    void refuse(bool on) {
        if (on) listener_.reset();
        if (!on && !listener_) listener_ = listen_on_loopback(port(), host_);
    }

    void silence_from(std::function<bool(const std::string&)> whom) {
        cut_off_ = std::move(whom);
        for (auto& each : connections_) each.silent = cut_off_ && cut_off_(each.host);
    }

    void reset_connections() {
        accept_all();  // those that are still in line are connections to their clients
        for (proxied_connection& connection : connections_) sever(connection);
        sweep();
    }

    proxy_counters counters() const {
        proxy_counters total = gone_;
        total.open = connections_.size();
        for (const proxied_connection& connection : connections_) add(connection, total);
        return total;
    }

  private:
    void serve();
    std::vector<pollfd> wanted() const;
    std::optional<clock::time_point> next_due() const;
    void accept_all();
    void read_all(const std::vector<pollfd>& ready);
    void settle_connect(proxied_connection& connection, const pollfd& ready, clock::time_point now);
    void forward(proxied_connection& connection, clock::time_point now);
    void act_on(faulty_stream::outcome outcome, proxied_connection& connection,
                faulty_stream& opposite, stream_faults& faults, clock::time_point now);
    static void sever(proxied_connection& connection);
    static void add(const proxied_connection& connection, proxy_counters& total);
    void sweep();

    /// What is wrong with a direction of one connection.
    stream_faults& of(const proxied_connection& connection, stream_faults& all) {
        return connection.silent ? silent_ : all;
    }

    const std::uint16_t server_port_;
    const std::string host_;
    port_reservation reservation_;
    file_descriptor listener_ = listen_on_loopback(reservation_.port(), host_);
    std::function<bool(const std::string&)> cut_off_;
    stream_faults to_server_;
    stream_faults to_client_;
    stream_faults silent_{.silent = true};
    std::list<proxied_connection> connections_;
    proxy_counters gone_;  // of connections that are no more
    std::minstd_rand chance_;
    bool stopping_ = false;
    task_queue tasks_;
    std::thread thread_;  // last: uses all of the above
};

void fault_proxy::engine::serve() {
    ::prctl(PR_SET_TIMERSLACK, 1);  // by default a sleep may last 50 us longer than asked
    while (!stopping_) {
        std::vector<pollfd> descriptors = wanted();
        poll_until(descriptors, next_due());
        // Bytes that have arrived count as sent before a change asked for at the same time.
        read_all(descriptors);
        tasks_.run_pending();
        const auto now = clock::now();
        for (proxied_connection& connection : connections_) forward(connection, now);
        sweep();
        accept_all();
    }
}

/// The queue, the listener, then client and server of each connection.
std::vector<pollfd> fault_proxy::engine::wanted() const {
    std::vector<pollfd> descriptors{{tasks_.descriptor(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    const auto want = [&](const file_descriptor& socket, bool input, bool output) {
        const int events = (input ? POLLIN : 0) | (output ? POLLOUT : 0);
        // A socket of which nothing is wanted must not wake us with its hang-up again and again.
        descriptors.push_back({events == 0 ? -1 : socket.get(), static_cast<short>(events), 0});
    };
    for (const proxied_connection& connection : connections_) {
        want(connection.client, connection.to_server.wants_input(),
             connection.to_client.blocked() && !connection.silent && !to_client_.silent);
        want(connection.server, !connection.connecting && connection.to_client.wants_input(),
             connection.connecting ||
                 (connection.to_server.blocked() && !connection.silent && !to_server_.silent));
    }
    return descriptors;
}

std::optional<clock::time_point> fault_proxy::engine::next_due() const {
    std::optional<clock::time_point> earliest;
    const auto consider = [&](const faulty_stream& stream, const stream_faults& faults) {
        const auto due = stream.next_due();
        if (!due || faults.silent || stream.blocked()) return;
        if (!earliest || *due < *earliest) earliest = due;
    };
    for (const proxied_connection& connection : connections_) {
        if (connection.silent) continue;
        if (!connection.connecting) consider(connection.to_server, to_server_);
        consider(connection.to_client, to_client_);
    }
    return earliest;
}

void fault_proxy::engine::accept_all() {
    while (listener_) {
        file_descriptor client = accept_connection(listener_);
        if (!client) return;
        ++gone_.connections;
        file_descriptor server = begin_connect_to_loopback(server_port_);
        const bool connecting{server};
        auto host = peer_host(client);
        const bool silent = cut_off_ && cut_off_(host);
        connections_.push_back(
            {std::move(client), std::move(server), std::move(host), connecting, silent});
        if (!connecting) connections_.back().to_client.source_was_reset(clock::now());
    }
}

void fault_proxy::engine::read_all(const std::vector<pollfd>& ready) {
    const auto now = clock::now();
    std::size_t index = 2;
    for (proxied_connection& connection : connections_) {
        const pollfd& client = ready[index++];
        const pollfd& server = ready[index++];
        constexpr int input = POLLIN | POLLHUP | POLLERR;
        if (connection.to_server.wants_input() && (client.revents & input) != 0)
            connection.to_server.read_from(connection.client, now, to_server_, chance_);
        if (connection.connecting)
            settle_connect(connection, server, now);
        else if (connection.to_client.wants_input() && (server.revents & input) != 0)
            connection.to_client.read_from(connection.server, now, to_client_, chance_);
    }
}

void fault_proxy::engine::settle_connect(proxied_connection& connection, const pollfd& ready,
                                         clock::time_point now) {
    if (ready.revents == 0) return;
    connection.connecting = false;
    if (connect_failed(connection.server)) connection.to_client.source_was_reset(now);
}

void fault_proxy::engine::forward(proxied_connection& connection, clock::time_point now) {
    if (!connection.connecting) {
        auto& faults = of(connection, to_server_);
        const auto outcome = connection.to_server.write_to(connection.server, now, faults);
        act_on(outcome, connection, connection.to_client, faults, now);
    }
    if (connection.dead) return;
    auto& faults = of(connection, to_client_);
    const auto outcome = connection.to_client.write_to(connection.client, now, faults);
    act_on(outcome, connection, connection.to_server, faults, now);
}

void fault_proxy::engine::act_on(faulty_stream::outcome outcome, proxied_connection& connection,
                                 faulty_stream& opposite, stream_faults& faults,
                                 clock::time_point now) {
    switch (outcome) {
        case faulty_stream::outcome::open: return;
        case faulty_stream::outcome::broken: opposite.source_was_reset(now); break;
        case faulty_stream::outcome::cut: faults.cut_after.reset(); [[fallthrough]];
        case faulty_stream::outcome::severed: sever(connection); return;
        case faulty_stream::outcome::finished: break;
    }
    connection.dead = connection.to_server.finished() && connection.to_client.finished();
}

void fault_proxy::engine::sever(proxied_connection& connection) {
    connection.dead = true;
    close_with_reset(connection.client);
    close_with_reset(connection.server);
}

void fault_proxy::engine::add(const proxied_connection& connection, proxy_counters& total) {
    total.bytes_to_server += connection.to_server.handed_off();
    total.bytes_to_client += connection.to_client.handed_off();
}

void fault_proxy::engine::sweep() {
    std::erase_if(connections_, [this](const proxied_connection& connection) {
        if (connection.dead) add(connection, gone_);
        return connection.dead;
    });
}

fault_proxy::fault_proxy(std::uint16_t server_port) : fault_proxy(server_port, "127.0.0.1", 0) {}

fault_proxy::fault_proxy(std::uint16_t server_port, const std::string& host, std::uint16_t port)
    : engine_{std::make_unique<engine>(server_port, host, port)} {}

fault_proxy::~fault_proxy() = default;

std::uint16_t fault_proxy::port() const noexcept { return engine_->port(); }

std::string fault_proxy::url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

void fault_proxy::delay(direction which, nanoseconds time, nanoseconds jitter) {
    engine_->run([=](engine& proxy) {
        proxy.faults(which).delay = time;
        proxy.faults(which).jitter = jitter;
    });
}

void fault_proxy::silence(direction which) {
    engine_->run([=](engine& proxy) { proxy.faults(which).silent = true; });
}

void fault_proxy::silence() {
    engine_->run([](engine& proxy) {
        proxy.faults(direction::to_server).silent = true;
        proxy.faults(direction::to_client).silent = true;
    });
}

void fault_proxy::silence_from(std::function<bool(const std::string& host)> whom) {
    engine_->run([&](engine& proxy) { proxy.silence_from(std::move(whom)); });
}

void fault_proxy::split(bool on) {
    engine_->run([=](engine& proxy) {
        proxy.faults(direction::to_server).split = on;
        proxy.faults(direction::to_client).split = on;
    });
}

void fault_proxy::refuse(bool on) {
    engine_->run([=](engine& proxy) { proxy.refuse(on); });
}

void fault_proxy::cut_after(direction which, std::size_t bytes) {
    engine_->run([=](engine& proxy) { proxy.faults(which).cut_after = bytes; });
}

void fault_proxy::reset_connections() {
    engine_->run([](engine& proxy) { proxy.reset_connections(); });
}

void fault_proxy::heal() {
    engine_->run([](engine& proxy) {
        proxy.faults(direction::to_server) = {};
        proxy.faults(direction::to_client) = {};
        proxy.silence_from({});
        proxy.refuse(false);
    });
}

proxy_counters fault_proxy::counters() const {
    proxy_counters result;
    engine_->run([&](engine& proxy) { result = proxy.counters(); });
    return result;
}

}  // namespace holdfast::test
