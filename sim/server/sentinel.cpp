#include "sim/server/sentinel.hpp"

#include <algorithm>
#include <utility>

#include "sim/server/command_reader.hpp"
#include "sim/server/words.hpp"

namespace holdfast::sim {
namespace {

constexpr std::string_view switch_channel = "+switch-master";

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower;
}

std::string unknown_second(std::string_view of, std::string_view word) {
    return "ERR unknown subcommand '" + std::string(word) + "'. Try " + std::string(of) + " HELP.";
}

}  // namespace

struct sentinel::session {
    connection number = 0;
    int protocol = 2;
    bool subscribed = false;  // to +switch-master
    std::string unread{};
};

sentinel::sentinel(server_wire& out, watched what, view first)
    : wire_(out), what_(std::move(what)), view_(std::move(first)) {}

sentinel::~sentinel() = default;

sentinel::connection sentinel::open() {
    sessions_.push_back(std::make_unique<session>());
    sessions_.back()->number = ++last_;
    return last_;
}

void sentinel::close(connection whom) {
    std::erase_if(sessions_, [&](const auto& each) { return each->number == whom; });
}

void sentinel::crash() { sessions_.clear(); }

sentinel::session* sentinel::find(connection whom) {
    for (const auto& each : sessions_) {
        if (each->number == whom) return each.get();
    }
    return nullptr;
}

void sentinel::receive(connection from, std::string_view bytes) {
    auto* const who = find(from);
    if (who == nullptr) return;
    who->unread += bytes;
    std::vector<std::string_view> words;
    std::size_t done = 0;
    for (;;) {
        const auto found = read_command(std::string_view(who->unread).substr(done), false, words);
        if (found.what != reading::kind::command) break;
        done += found.size;
        if (!words.empty()) run(*who, words);
    }
    who->unread.erase(0, done);
}

void sentinel::run(session& from, keyspace::arguments words) {
    std::string answer;
    const auto name = letters(words.front());
    const auto second = words.size() > 1 ? letters(words[1]) : 0;
    if (name == letters("HELLO") && words.size() > 1) from.protocol = words[1] == "3" ? 3 : 2;
    reply_writer out(answer, from.protocol);
    if (name == letters("HELLO")) {
        hello(from, out);
    } else if (name == letters("PING")) {
        out.status("PONG");
    } else if (name == letters("INFO")) {
        info(out);
    } else if (name == letters("SUBSCRIBE") && words.size() > 1) {
        subscribe(from, words, out);
    } else if (name == letters("SENTINEL") && words.size() == 3) {
        about_master(words, out);
    } else if (name == letters("CLIENT") &&
               (second == letters("SETNAME") || second == letters("TRACKING"))) {
        out.ok();
    } else {
        answer_unknown(words, out);
    }
    wire_.reply(from.number, answer);
}

void sentinel::answer_unknown(keyspace::arguments words, reply_writer& out) {
    auto text =
        "ERR unknown command '" + std::string(words.front()) + "', with args beginning with: ";
    for (const auto word : words.subspan(1)) text += "'" + std::string(word) + "' ";
    out.error(text);
}

void sentinel::hello(const session& from, reply_writer& out) const {
    out.map(6);
    out.bulk("server");
    out.bulk("redis");
    out.bulk("version");
    out.bulk("7.0.15");
    out.bulk("proto");
    out.integer(from.protocol);
    out.bulk("id");
    out.integer(from.number);
    out.bulk("mode");
    out.bulk("sentinel");
    out.bulk("modules");
    out.array(0);
}

void sentinel::subscribe(session& from, keyspace::arguments words, reply_writer& out) {
    for (std::size_t n = 1; n < words.size(); ++n) {
        from.subscribed = from.subscribed || words[n] == switch_channel;
        out.push(3);
        out.bulk("subscribe");
        out.bulk(words[n]);
        out.integer(static_cast<std::int64_t>(n));
    }
}

void sentinel::info(reply_writer& out) const {
    out.bulk("# Server\r\nredis_version:7.0.15\r\nredis_mode:sentinel\r\n\r\n# Sentinel\r\n" +
             std::string("sentinel_masters:1\r\nmaster0:name=") + what_.name +
             ",status=ok,address=" + view_.host + ':' + std::to_string(view_.port) +
             ",slaves=" + std::to_string(what_.replicas) +
             ",sentinels=" + std::to_string(what_.sentinels) + "\r\n");
}

void sentinel::about_master(keyspace::arguments words, reply_writer& out) const {
    const auto what = lower_case(words[1]);
    const bool ours = words[2] == what_.name;
    if (what == "get-master-addr-by-name") {
        if (!ours) return out.null_array();
        out.array(2);
        out.bulk(view_.host);
        return out.bulk(std::to_string(view_.port));
    }
    if (what != "master") return out.error(unknown_second("SENTINEL", words[1]));
    if (!ours) return out.error("ERR No such master with that name");
    describe(out);
}

void sentinel::describe(reply_writer& out) const {
    const std::vector<std::pair<std::string_view, std::string>> fields{
        {"name", what_.name},
        {"ip", view_.host},
        {"port", std::to_string(view_.port)},
        {"role-reported", "master"},
        {"config-epoch", std::to_string(view_.epoch)},
        {"num-slaves", std::to_string(what_.replicas)},
        {"num-other-sentinels", std::to_string(what_.sentinels - 1)},
        {"quorum", std::to_string(what_.sentinels / 2 + 1)}};
    out.map(fields.size());
    for (const auto& [name, text] : fields) {
        out.bulk(name);
        out.bulk(text);
    }
}

void sentinel::learn(const view& next) {
    const auto before = std::exchange(view_, next);
    if (before.host == next.host && before.port == next.port) return;
    const auto text = what_.name + ' ' + before.host + ' ' + std::to_string(before.port) + ' ' +
                      next.host + ' ' + std::to_string(next.port);
    for (const auto& each : sessions_) {
        if (!each->subscribed) continue;
        std::string message;
        reply_writer out(message, each->protocol);
        out.push(3);
        out.bulk("message");
        out.bulk(switch_channel);
        out.bulk(text);
        wire_.push(each->number, message);
    }
}

}  // namespace holdfast::sim
