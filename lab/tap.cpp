#include "lab/tap.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <thread>

#include "lab/wording.hpp"
#include "resp/framer.hpp"
#include "support/sockets.hpp"
#include "support/task_queue.hpp"

namespace holdfast::lab {
namespace {

using test::file_descriptor;
constexpr std::chrono::milliseconds connect_bound{1000};

struct path {
    std::string name;
    std::uint16_t port;
    test::port_reservation reservation{};
    file_descriptor listener{};
    bool cut = false;
    bool loses_answers = false;
};

struct request {
    bool told = false;    // it belongs to the story
    bool writes = false;  // its answer may be lost: those to questions are merely asked for again
};

struct link {
    path* to;
    file_descriptor client;
    file_descriptor server;
    std::string from_client{};  // bytes that are no whole command yet, or wait at the gate
    std::string from_server{};
    std::deque<request> asked{};  // whose answers are to come
    bool waits = false;           // its next command is at the gate
    bool deaf = false;            // an answer was lost: nothing can follow it
    bool dead = false;
};

/// The first whole frame, or nothing.
std::optional<std::string> take_frame(std::string& bytes) {
    resp::framer framer;
    if (framer.scan(bytes) != resp::framing::complete) return std::nullopt;
    std::string frame = bytes.substr(0, framer.size());
    bytes.erase(0, framer.size());
    return frame;
}

/// Appends what has arrived; false at the end of the connection.
bool receive(const file_descriptor& socket, std::string& bytes) {
    char buffer[16384];
    const ssize_t size = ::recv(socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size > 0) bytes.append(buffer, static_cast<std::size_t>(size));
    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

/// What servers push is no answer, but for the confirmation of SUBSCRIBE, which has no other.
bool is_answer(std::string_view frame) {
    constexpr std::string_view confirmation = ">3\r\n$9\r\nsubscribe\r\n";
    return !frame.starts_with('>') || frame.starts_with(confirmation);
}

/// What the lab's clients say fits into the buffers of the kernel.
bool pass_on(const file_descriptor& socket, std::string_view bytes) {
    return ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(bytes.size());
}

}  // namespace

/// Everything but the queue and the ports belongs to the thread.
class tap::engine {
  public:
    engine(std::string client, std::string key, const std::vector<route>& servers, journal& story)
        : client_(std::move(client)), key_(std::move(key)), story_(story) {
        for (const route& each : servers) {
            path& added = paths_.emplace_back(path{each.name, each.port});
            added.listener = test::listen_on_loopback(added.reservation.port());
        }
        thread_ = std::thread([this] { serve(); });
    }
    ~engine() {
        run([this] { stopping_ = true; });
        thread_.join();
    }
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    void run(const std::function<void()>& change) { tasks_.run(change); }

    std::uint16_t port(std::size_t server) const { return paths_[server].reservation.port(); }

    void let_pass(std::size_t commands) { allowance_ = commands; }
    void open() {
        allowance_.reset();
        for (link& each : links_) forward_commands(each);
    }
    bool at_the_gate() const {
        return std::any_of(links_.begin(), links_.end(),
                           [](const link& each) { return each.waits && !each.dead; });
    }
    void lose_answers(std::size_t servers) {
        for (std::size_t n = 0; n < paths_.size(); ++n) paths_[n].loses_answers = n < servers;
    }
    void heal() {
        lose_answers(0);
        break_links([](const link& each) { return each.deaf; });
    }
    void cut_off(std::size_t server) {
        paths_[server].cut = true;
        break_links([&](const link& each) { return each.to == &paths_[server]; });
    }
    void lead_to(std::size_t server, std::uint16_t port) {
        paths_[server].port = port;
        break_links([&](const link& each) { return each.to == &paths_[server]; });
    }

  private:
    void serve() {
        while (!stopping_) {
            std::vector<pollfd> descriptors = wanted();
            test::poll_until(descriptors, std::nullopt);
            for (link& each : links_) carry(each);
            std::erase_if(links_, [](const link& each) { return each.dead; });
            for (path& each : paths_) accept(each);
            tasks_.run_pending();
        }
    }

    std::vector<pollfd> wanted() const {
        std::vector<pollfd> descriptors{{tasks_.descriptor(), POLLIN, 0}};
        for (const path& each : paths_) descriptors.push_back({each.listener.get(), POLLIN, 0});
        for (const link& each : links_) {
            if (each.dead) continue;
            descriptors.push_back({each.client.get(), POLLIN, 0});
            descriptors.push_back({each.server.get(), POLLIN, 0});
        }
        return descriptors;
    }

    void accept(path& from) {
        while (file_descriptor client = test::accept_connection(from.listener)) {
            if (from.cut) {
                test::close_with_reset(client);
                continue;
            }
            try {
                links_.push_back({&from, std::move(client),
                                  test::connect_to_loopback(from.port, connect_bound)});
                test::send_without_delay(links_.back().server);
            } catch (const std::runtime_error&) {  // nobody listens there: the client is told
            }
        }
    }

    void carry(link& each) {
        if (each.dead) return;
        const bool client_there = receive(each.client, each.from_client);
        const bool server_there = receive(each.server, each.from_server);
        forward_commands(each);
        forward_answers(each);
        if (!client_there || !server_there) break_link(each);
    }

    void forward_commands(link& each) {
        each.waits = false;
        while (!each.dead) {
            std::string rest = each.from_client;
            const auto command = take_frame(rest);
            if (!command) return;
            const bool told = mentions(*command, key_);
            if (told && allowance_ == 0U) {
                each.waits = true;
                return;
            }
            if (told && allowance_) --*allowance_;
            each.from_client = std::move(rest);
            if (told)
                story_.wire(client_ + " -> " + each.to->name + "  " + command_in_words(*command));
            each.asked.push_back({told, writes(*command)});
            if (!pass_on(each.server, *command)) break_link(each);
        }
    }

    void forward_answers(link& each) {
        while (!each.dead) {
            const auto answer = take_frame(each.from_server);
            if (!answer) return;
            const request answered = is_answer(*answer) ? next_request(each) : request{};
            const bool lost =
                each.deaf || (answered.told && answered.writes && each.to->loses_answers);
            if (answered.told) {
                story_.wire(client_ + " <- " + each.to->name + "  " + answer_in_words(*answer) +
                            (lost ? "   (lost on the way)" : ""));
            }
            each.deaf = lost;
            if (!lost && !pass_on(each.client, *answer)) break_link(each);
        }
    }

    static request next_request(link& each) {
        if (each.asked.empty()) return {};
        const request next = each.asked.front();
        each.asked.pop_front();
        return next;
    }

    template <typename Condition>
    void break_links(Condition condition) {
        for (link& each : links_) {
            if (condition(each)) break_link(each);
        }
    }

    static void break_link(link& each) {
        each.dead = true;
        test::close_with_reset(each.client);
        each.server.reset();
    }

    const std::string client_;
    const std::string key_;
    journal& story_;
    std::deque<path> paths_;
    std::list<link> links_;
    std::optional<std::size_t> allowance_;
    bool stopping_ = false;
    test::task_queue tasks_;
    std::thread thread_;
};

tap::tap(std::string client, std::string key, const std::vector<route>& servers, journal& story)
    : engine_(std::make_unique<engine>(std::move(client), std::move(key), servers, story)) {}
tap::~tap() = default;

std::uint16_t tap::port(std::size_t server) const { return engine_->port(server); }

void tap::let_pass(std::size_t commands) {
    engine_->run([&] { engine_->let_pass(commands); });
}
void tap::open() {
    engine_->run([&] { engine_->open(); });
}
bool tap::at_the_gate() const {
    bool result = false;
    engine_->run([&] { result = engine_->at_the_gate(); });
    return result;
}
void tap::lose_answers(std::size_t servers) {
    engine_->run([&] { engine_->lose_answers(servers); });
}
void tap::heal() {
    engine_->run([&] { engine_->heal(); });
}
void tap::cut_off(std::size_t server) {
    engine_->run([&] { engine_->cut_off(server); });
}
void tap::lead_to(std::size_t server, std::uint16_t port) {
    engine_->run([&] { engine_->lead_to(server, port); });
}

}  // namespace holdfast::lab
