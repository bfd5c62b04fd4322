#include "sim/test/both_servers.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <regex>
#include <stdexcept>
#include <utility>

#include "resp/encoder.hpp"

namespace holdfast::sim {
namespace {

constexpr int patience_ms = 20000;

std::string replaced(const std::string& text, const char* what, const char* by) {
    return std::regex_replace(text, std::regex(what), by);
}

// Readable where a test fails.
std::string shown(std::string text) {
    text = replaced(text, "\r\n", "\\r\\n");
    return text.size() > 1500 ? text.substr(0, 1500) + "..." : text;
}

}  // namespace

keyspace::wall_time wall_clock_now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
}

std::string encoded(const batch& commands) {
    std::string bytes;
    for (const auto& words : commands) {
        resp::append_command(bytes, std::vector<std::string_view>(words.begin(), words.end()));
    }
    return bytes;
}

std::string masked(std::string bytes, mask what) {
    switch (what) {
        case mask::nothing: return bytes;
        case mask::identity:
            bytes = replaced(bytes, "(version\r\n)\\$\\d+\r\n[0-9.]+", "$1#");
            bytes = replaced(bytes, "(id\r\n):\\d+", "$1#");
            return replaced(bytes, "^:\\d+", ":#");
        case mask::times: return replaced(bytes, "(:|\r\n)\\d{4,}\r\n", "$1#\r\n");
        case mask::clock:
            return replaced(bytes, "\\*2\r\n\\$10\r\n\\d{10}\r\n\\$\\d\r\n\\d{1,6}\r\n", "#\r\n");
        case mask::offsets:
            bytes = replaced(bytes, "(replid2?:)[0-9a-f]{40}", "$1#");
            bytes = replaced(bytes, "(offset:|histlen:|since_seconds:)-?\\d+", "$1#");
            bytes = replaced(bytes, "ip=[^,]*,port=\\d+,(.*),offset=\\d+", "ip=#,$1,offset=#");
            return replaced(bytes, "[=$]\\d+\r\n", "#\r\n");  // how long the text is
    }
    return bytes;
}

raw_connection::raw_connection(const std::string& path)
    : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    std::strncpy(where.sun_path, path.c_str(), sizeof(where.sun_path) - 1);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) != 0) {
        throw std::runtime_error("cannot connect to " + path);
    }
}

raw_connection::~raw_connection() { ::close(socket_); }

void raw_connection::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

std::string raw_connection::receive_until(std::string_view end) {
    std::string all;
    std::vector<char> room(std::size_t{1} << 16U);
    while (!closed_ && !all.ends_with(end)) {
        pollfd readable{socket_, POLLIN, 0};
        if (poll(&readable, 1, patience_ms) != 1) throw std::runtime_error("no answer: " + all);
        const auto got = recv(socket_, room.data(), room.size(), 0);
        closed_ = got <= 0;
        all += closed_ ? "<closed>" : std::string(room.data(), static_cast<std::size_t>(got));
    }
    return all;
}

both_servers::both_servers(const std::vector<std::string>& options, server_settings how)
    : real_(options), ours_(out_, scripts_, std::move(how), 1) {}

std::size_t both_servers::connect() {
    auto& made = pairs_.emplace_back(std::make_unique<pair>(real_.socket()));
    made->ours = ours_.open();
    return pairs_.size() - 1;
}

void both_servers::ask(std::size_t who, const batch& commands, mask what) {
    std::string asked;
    for (const auto& words : commands) {
        for (const auto& word : words) asked += word.substr(0, 60) + ' ';
        asked += "; ";
    }
    SCOPED_TRACE("connection " + std::to_string(who) + ": " + asked);
    send(who, encoded(commands), what);
}

void both_servers::send(std::size_t who, std::string_view bytes, mask what) {
    pairs_[who]->real.send(bytes);
    ours_.receive(pairs_[who]->ours, bytes, wall_clock_now());
    compare_one(who, what);
    compare();
}

void both_servers::begin(std::size_t who, const batch& commands) {
    const auto bytes = encoded(commands);
    pairs_[who]->real.send(bytes);
    ours_.receive(pairs_[who]->ours, bytes, wall_clock_now());
    begun_ = who;
}

void both_servers::finish() {
    begun_.reset();
    compare();
}

void both_servers::send_and_end_waits(std::size_t who, const batch& commands) {
    begin(who, commands);
    ours_.end_waits(wall_clock_now() + std::chrono::hours(1));
    finish();
}

void both_servers::compare_closed(std::size_t who) {
    begun_.reset();
    const auto theirs = pairs_[who]->real.receive_until("<closed>");
    EXPECT_EQ(shown(theirs), shown(std::exchange(out_.written[pairs_[who]->ours], {})));
}

void both_servers::compare(mask what) {
    for (std::size_t who = 0; who < pairs_.size(); ++who) {
        if (!pairs_[who]->real.closed() && begun_ != who) compare_one(who, what);
    }
}

void both_servers::compare_one(std::size_t who, mask what) {
    auto& [real, number] = *pairs_[who];
    const auto mark = "mark" + std::to_string(++markers_);
    const auto bytes = encoded({{mark}});
    real.send(bytes);
    ours_.receive(number, bytes, wall_clock_now());
    const auto end = "-ERR unknown command '" + mark + "', with args beginning with: \r\n";
    const auto theirs = real.receive_until(end);
    const auto ours = std::exchange(out_.written[number], {});
    EXPECT_EQ(shown(masked(theirs, what)), shown(masked(ours, what))) << "on connection " << who;
}

std::string both_servers::ask_real(std::size_t who, const command& words) {
    const auto mark = "mark" + std::to_string(++markers_);
    pairs_[who]->real.send(encoded({words, {mark}}));
    const auto end = "-ERR unknown command '" + mark + "', with args beginning with: \r\n";
    auto answer = pairs_[who]->real.receive_until(end);
    answer.resize(answer.size() - std::min(answer.size(), end.size()));
    return answer;
}

}  // namespace holdfast::sim
