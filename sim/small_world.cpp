#include "sim/small_world.hpp"

#include <string>
#include <vector>

#include "core/judge.hpp"
#include "sim/node.hpp"

namespace holdfast::sim::small {
namespace {

using words = std::vector<std::string_view>;

constexpr std::string_view counter_key = "fence";
constexpr std::string_view ttl = "1000";

// A later life reads a later time, far above what the earlier one can have counted up to; and the
// servers' clocks disagree, so that the counters start apart.
keyspace::wall_time clock_of(std::size_t node, std::uint8_t life) {
    return keyspace::wall_time{1000 * (life + 1) + 10 * static_cast<int>(node)};
}

std::string owner_text(std::uint8_t owner) { return "o" + std::to_string(owner); }

void load(keyspace& data, const node_state& from, keyspace::wall_time now) {
    const auto set = [&](std::string_view key, const std::string& text) {
        data.execute(words{"SET", key, text}, now);
    };
    set(core::life_key, "run " + std::to_string(now.count()));
    set(core::marker_key, "run");
    if (from.quarantined != 0) set(core::quarantine_key, "run");
    if (from.owner != 0) set(lock_key, owner_text(from.owner));
    if (from.counter != 0) set(counter_key, std::to_string(from.counter));
}

void store(const keyspace& data, node_state& to, keyspace::wall_time now) {
    const auto* lock = data.peek(lock_key, now);
    const auto* counter = data.peek(counter_key, now);
    to.owner = lock ? static_cast<std::uint8_t>(std::stoi(lock->text.substr(1))) : std::uint8_t{0};
    to.counter = counter ? static_cast<std::uint16_t>(std::stoi(counter->text)) : std::uint16_t{0};
}

words keys_of(operation what) {
    if (what == operation::release) return {lock_key};
    if (what == operation::commit) return {lock_key, counter_key};
    return {lock_key, counter_key, core::life_key, core::marker_key, core::quarantine_key};
}

}  // namespace

const servers::effect& servers::execute(std::size_t node, const node_state& before,
                                        const asked& what) {
    const question key{static_cast<std::uint8_t>(node), before, what.what, what.owner, what.token};
    const auto found = known_.find(key);
    return found != known_.end() ? found->second : known_.emplace(key, run(key)).first->second;
}

servers::effect servers::run(const question& asked) {
    const auto now = clock_of(asked.node, asked.before.life);
    keyspace data;
    load(data, asked.before, now);
    const auto owner = owner_text(asked.owner);
    const auto second =
        asked.what == operation::commit ? std::to_string(asked.token) : std::string(ttl);
    const auto answer = scripts_.lua().run(scripts_.of(asked.what), keys_of(asked.what),
                                           words{owner, second, "3600000"}, data, now);
    effect result{.after = asked.before};
    store(data, result.after, now);
    const bool several = !answer.items.empty();
    result.code = static_cast<std::uint8_t>(several ? answer.items[0].number : answer.number);
    if (asked.what == operation::commit) result.number = asked.token;
    if (asked.what == operation::acquire && result.code == 1) {
        result.number = static_cast<std::uint16_t>(answer.items[1].number);
    }
    return result;
}

}  // namespace holdfast::sim::small
