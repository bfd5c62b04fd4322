#include "unit/support/stub_server.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "resp/framer.hpp"
#include "resp/view.hpp"
#include "scripts/embedded.hpp"

namespace holdfast::testing {
namespace {

constexpr auto ok = "+OK\r\n";

std::string integer(std::int64_t value) { return ":" + std::to_string(value) + "\r\n"; }

/// A script by its text or hash, null where it is none of ours.
const scripts::script* find_script(std::string_view what) {
    static const std::array all{&scripts::exclusive::acquire,       &scripts::exclusive::commit,
                                &scripts::exclusive::extend,        &scripts::exclusive::release,
                                &scripts::exclusive::queue_acquire, &scripts::enlist,
                                &scripts::exclusive::queue_release};
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto* each) {
        return each->text == what || each->sha1 == what;
    });
    return found == all.end() ? nullptr : *found;
}

std::string name_of(const stub_server::words& command) {
    if (command[0] == "CLIENT" || command[0] == "SCRIPT" || command[0] == "SENTINEL" ||
        command[0] == "CLUSTER") {
        return command[1];
    }
    if (command[0] != "EVAL" && command[0] != "EVALSHA") return command[0];
    const auto* const script = find_script(command[1]);
    return script == nullptr ? command[0] : std::string(script->name);
}

core::duration milliseconds(const std::string& text) {
    return std::chrono::milliseconds(std::stoll(text));
}

}  // namespace

std::string bulk(std::string_view text) {
    return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

std::string invalidation(const std::vector<std::string>& keys) {
    std::string push = ">2\r\n" + bulk("invalidate");
    if (keys.empty()) return push + "_\r\n";
    push += "*" + std::to_string(keys.size()) + "\r\n";
    for (const auto& key : keys) push += bulk(key);
    return push;
}

std::string published(const std::string& channel, const std::string& what) {
    return ">3\r\n" + bulk("message") + bulk(channel) + bulk(what);
}

stub_server::stub_server(world& in, std::string name)
    : info("redis_version:7.0.15\r\nrun_id:life-of-" + name +
           "\r\nrole:master\r\nmaxmemory_policy:noeviction\r\nmaster_replid:data-of-" + name +
           "\r\nmaster_replid2:0000\r\n"),
      world_(in),
      name_(std::move(name)) {
    start();
}

void stub_server::stop() {
    world_.listen(name_, nullptr);
    kill_connections();
}

void stub_server::kill_connections() {
    for (const auto& each : sessions_) each.stream->hang_up();
    sessions_.clear();
}

void stub_server::kill_connection(const memory_stream& which) {
    std::erase_if(sessions_, [&](const session& each) {
        if (each.stream.get() != &which) return false;
        each.stream->hang_up();
        return true;
    });
}

void stub_server::flush_all() {
    keys_.clear();
    lines_.clear();
    for (auto& each : sessions_) {
        each.tracked.clear();
        each.stream->say(invalidation({}));
    }
}

int stub_server::count(const std::string& command) const {
    return static_cast<int>(std::count(asked_.begin(), asked_.end(), command));
}

const stub_server::stored* stub_server::find(const std::string& key) const {
    const auto found = keys_.find(key);
    return found == keys_.end() || found->second.until <= world_.now() ? nullptr : &found->second;
}

std::optional<std::string> stub_server::owner_of(const std::string& key) const {
    const auto* const found = find(key);
    return found == nullptr ? std::nullopt : std::optional(found->owner);
}

void stub_server::put(const std::string& key, const std::string& owner, core::duration ttl) {
    keys_[key] = {owner, core::after(world_.now(), ttl)};
}

std::vector<std::shared_ptr<memory_stream>> stub_server::connections() const {
    std::vector<std::shared_ptr<memory_stream>> all;
    for (const auto& each : sessions_) {
        if (!each.stream->closed()) all.push_back(each.stream);
    }
    return all;
}

void stub_server::connected(const std::shared_ptr<memory_stream>& by) {
    sessions_.push_back({.stream = by, .unread = {}, .tracked = {}, .channels = {}, .unsaid = {}});
}

void stub_server::received(memory_stream& from, std::string_view bytes) {
    const auto found = std::find_if(sessions_.begin(), sessions_.end(),
                                    [&](const auto& each) { return each.stream.get() == &from; });
    if (found == sessions_.end()) return;
    found->unread += bytes;
    process(*found);
}

void stub_server::process(session& by) {
    resp::framer framer;
    while (!by.waits && framer.scan(by.unread) == resp::framing::complete) {
        words command;
        for (const auto word : resp::view(std::string_view(by.unread).substr(0, framer.size()))) {
            command.emplace_back(word.text());
        }
        by.unread.erase(0, framer.size());
        framer.reset();
        const auto reply = carry_out(by, command);
        by.unsaid += reply;  // behind what it has published to itself
    }
    if (!by.unsaid.empty()) by.stream->say(std::exchange(by.unsaid, {}));
}

void stub_server::acknowledge(int count, bool from_now_on) {
    replicas_silent_ = !from_now_on;
    if (from_now_on) replicas = count;
    for (auto& each : sessions_) {
        if (!std::exchange(each.waits, false)) continue;
        each.unsaid += integer(count);
        process(each);
    }
}

std::string stub_server::carry_out(session& by, const words& command) {
    const auto name = name_of(command);
    asked_.push_back(name);
    latest_[name] = command;
    if (const auto said = once_.find(name); said != once_.end()) {
        auto reply = said->second;
        once_.erase(said);
        return reply;
    }
    if (const auto said = always_.find(name); said != always_.end()) return said->second;
    auto reply = reply_to(by, name, command);
    by.caching = name == "CACHING";
    return reply;
}

std::string stub_server::reply_to(session& by, const std::string& name, const words& command) {
    if (name == "HELLO") return "%1\r\n" + bulk("proto") + integer(3);
    if (name == "INFO") return bulk(info);
    if (name == "PING") return "+PONG\r\n";
    if (name == "TIME") {
        const auto since = world_.now().time_since_epoch();
        const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
        const auto micros = std::chrono::floor<std::chrono::microseconds>(since - seconds);
        return "*2\r\n" + bulk(std::to_string(seconds.count())) +
               bulk(std::to_string(micros.count()));
    }
    if (name == "LOAD") {
        const auto* const script = find_script(command[2]);
        if (script != nullptr) loaded_.emplace_back(script->name);
        return ok;
    }
    if (name == "SUBSCRIBE") {
        by.channels.push_back(command[1]);
        return ">3\r\n" + bulk("subscribe") + bulk(command[1]) + integer(1);
    }
    if (name == "PTTL") {
        if (by.caching) by.tracked.push_back(command[1]);
        const auto* const found = find(command[1]);
        if (found == nullptr) return integer(-2);
        const auto left = found->until - world_.now();
        return integer(std::chrono::ceil<std::chrono::milliseconds>(left).count());
    }
    if (name == "WAIT") {
        by.waits = replicas_silent_;
        return by.waits ? std::string() : integer(replicas);
    }
    if (name == "SET" && command.size() == 5) return ok;  // what replicas have to acknowledge
    if (name == "SET") {
        if (find(command[1]) != nullptr) return "_\r\n";
        put(command[1], command[2], milliseconds(command[5]));
        return ok;
    }
    if (command[0] == "EVAL" || command[0] == "EVALSHA") return run(by, name, command);
    return ok;
}

std::string stub_server::run(session& by, const std::string& name, const words& command) {
    if (command[0] == "EVAL") {
        loaded_.push_back(name);
    } else if (std::find(loaded_.begin(), loaded_.end(), name) == loaded_.end()) {
        return "-NOSCRIPT No matching script. Please use EVAL.\r\n";
    }
    if (name == "enlist") return enlisted;
    if (name == "acquire") return acquire(by, command);
    if (name == "queue_acquire") return queue_acquire(by, command);
    if (name == "queue_release") return queue_release(by, command);
    const auto& key = command[3];
    const auto& owner = command[3 + std::stoul(command[2])];
    if (owner_of(key) != owner) return integer(0);
    if (name == "release") remove(key, by.stream.get());
    if (name == "commit") {
        counter =
            std::max<std::uint64_t>(counter, std::stoull(command[4 + std::stoul(command[2])]));
    }
    if (name == "extend") {
        put(key, owner, milliseconds(command[4 + std::stoul(command[2])]));
        changed(key, by.stream.get());
    }
    return integer(1);
}

std::string stub_server::acquire(session& by, const words& command) {
    const auto& key = command[3];
    const auto first = 3 + std::stoul(command[2]);
    if (const auto* const other = find(key)) {
        if (by.caching) by.tracked.push_back(key);
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(other->until - world_.now());
        return "*3\r\n:0\r\n" + bulk(other->owner) + integer(left.count());
    }
    put(key, command[first], milliseconds(command[first + 1]));
    const bool fenced = command[2] == "2";
    if (fenced) counter += std::stoull(command[first + 3]);
    return "*2\r\n:1\r\n" + integer(fenced ? static_cast<std::int64_t>(counter) : 0);
}

void stub_server::remove(const std::string& key, const memory_stream* by) {
    keys_.erase(key);
    changed(key, by);
}

// Whoever changes it is not told: NOLOOP.
void stub_server::changed(const std::string& key, const memory_stream* by) {
    for (auto& each : sessions_) {
        const auto listens = std::erase(each.tracked, key) > 0;
        if (listens && !loses_pushes_ && each.stream.get() != by)
            each.stream->say(invalidation({key}));
    }
}

}  // namespace holdfast::testing
