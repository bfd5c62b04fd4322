#include "sim/explore/queue_world.hpp"

#include <vector>

#include "scripts/embedded.hpp"

namespace holdfast::sim::in_line {
namespace {

using words = std::vector<std::string_view>;

constexpr std::string_view lock_key = "lock";
constexpr std::string_view queue_key = "queue";
constexpr std::string_view counter_key = "fence";
constexpr std::string_view whole_ttl = "60000";
constexpr std::string_view ttl_of_grants = "2000";
constexpr std::string_view ttl_of_queues = "10000";
constexpr keyspace::wall_time now{1000};
constexpr std::int64_t full_term = 60'000;

std::string owner_text(std::uint8_t owner) { return "o" + std::to_string(owner); }

std::string entry_text(std::uint8_t owner) {
    return "c" + std::to_string(client_of(owner)) + " 0 ";
}

std::uint8_t owner_in(std::string_view text) {
    return static_cast<std::uint8_t>(std::stoi(std::string(text.substr(text.rfind('o') + 1))));
}

/// The keys of the server, and who hears what is published.
class database final : public command_executor {
  public:
    explicit database(const server_state& from) : hears_(from.hears()) {
        if (from.owner != 0) {
            const auto owner = owner_text(from.owner);
            const auto ttl = from.claimed != 0 ? whole_ttl : ttl_of_grants;
            data_.execute(words{"SET", lock_key, owner, "PX", ttl}, now);
        }
        for (const auto each : from.line) {
            const auto entry = entry_text(each) + owner_text(each);
            data_.execute(words{"RPUSH", queue_key, entry}, now);
            data_.execute(words{"PEXPIRE", queue_key, ttl_of_queues}, now);
        }
        if (from.counter == 0) return;
        data_.execute(words{"SET", counter_key, std::to_string(from.counter)}, now);
    }

    value execute(arguments command, wall_time at) override {
        if (command.front() != "PUBLISH") return data_.execute(command, at);
        const auto whom = static_cast<unsigned>(command[1].back() - '0');
        const bool heard = (hears_ >> whom & 1U) != 0;
        if (heard) called = owner_in(command[2].substr(0, command[2].find('\n')));
        return value::integer(heard ? 1 : 0);
    }

    void store(only_server::effect& to) const {
        const auto* lock = data_.peek(lock_key, now);
        const auto* line = data_.peek(queue_key, now);
        const auto* counter = data_.peek(counter_key, now);
        to.after.owner = lock ? owner_in(lock->text) : std::uint8_t{0};
        to.after.claimed = lock && lock->expires_at_ms >= now.count() / 1000 + full_term ? 1 : 0;
        to.after.counter =
            counter ? static_cast<std::uint16_t>(std::stoi(counter->text)) : std::uint16_t{0};
        to.after.line = {};
        if (line) {
            for (const auto& each : line->items) to.after.line.push(owner_in(each));
        }
        const auto stays = [](const auto* key) {
            return key && key->expires_at_ms == keyspace::no_expiry;
        };
        to.for_ever = stays(lock) || stays(line) ? 1 : 0;
        to.called = called;
    }

    std::uint8_t called = 0;

  private:
    keyspace data_;
    std::uint8_t hears_;
};

std::string bytes_of(const server_state& before, const asked& what) {
    std::string key{
        static_cast<char>(before.owner),         static_cast<char>(before.claimed),
        static_cast<char>(before.hears()),       static_cast<char>(before.counter & 255U),
        static_cast<char>(before.counter >> 8U), static_cast<char>(what.what),
        static_cast<char>(what.owner),           static_cast<char>(what.in_line),
        static_cast<char>(what.has_entry)};
    key.append(before.line.begin(), before.line.end());
    return key;
}

}  // namespace

// Which of its connections the server knows to be gone is nothing that a script can see.
only_server::effect only_server::execute(const server_state& before, const asked& what) {
    const auto key = bytes_of(before, what);
    auto found = known_.find(key);
    if (found == known_.end()) found = known_.emplace(key, run(before, what)).first;
    auto result = found->second;
    result.after.there = before.there;
    result.after.half_open = before.half_open;
    return result;
}

only_server::effect only_server::run(const server_state& before, const asked& what) {
    const bool acquires = what.what == operation::acquire;
    const auto& text =
        acquires ? scripts::exclusive::queue_acquire : scripts::exclusive::queue_release;
    const auto script = scripts_.at(*scripts_.find(text.sha1)).handle;
    const auto owner = owner_text(what.owner);
    const auto entry = acquires || what.has_entry != 0 ? entry_text(what.owner) : std::string();
    const words keys =
        acquires ? words{lock_key, queue_key, counter_key} : words{lock_key, queue_key};
    words arguments = acquires ? words{owner, whole_ttl, "3600000", "1", "0"} : words{owner};
    if (!entry.empty()) arguments.push_back(entry);
    if (acquires && what.in_line != 0) arguments.emplace_back("1");
    database data(before);
    const auto answer = scripts_.lua().run(script, keys, arguments, data, now);
    if (answer.is(value::kind::error)) throw std::logic_error(answer.text);
    effect result;
    data.store(result);
    const bool several = !answer.items.empty();
    result.code = static_cast<std::uint8_t>(several ? answer.items[0].number : answer.number);
    if (acquires && result.code == 1) {
        result.token = static_cast<std::uint16_t>(answer.items[1].number);
    } else if (acquires) {
        result.place = static_cast<std::uint8_t>(answer.items[3].number);
    }
    return result;
}

}  // namespace holdfast::sim::in_line
