#include "sim/explore/small_world.hpp"

#include <string>
#include <vector>

#include "scripts/embedded.hpp"
#include "sim/mutants/breakage.hpp"

namespace holdfast::sim::small {
namespace {

using words = std::vector<std::string_view>;

constexpr std::string_view lock_key = "lock";
constexpr std::string_view counter_key = "fence";
constexpr std::string_view ttl = "1000";

std::string owner_text(std::uint8_t owner) { return "o" + std::to_string(owner); }

void load(keyspace& data, const node_state& from, keyspace::wall_time now) {
    const auto set = [&](std::string_view key, const std::string& text) {
        data.execute(words{"SET", key, text}, now);
    };
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
    return {lock_key, counter_key};
}

}  // namespace

// A later life reads a later time, far above what the earlier one can have counted up to; and the
// servers' clocks disagree, so that the counters start apart.
std::uint16_t clock_of(std::size_t node, std::uint8_t life) {
    return static_cast<std::uint16_t>(1000U * (life + 1U) + 10U * node);
}

// Whom the end of a quarantine waits for is nothing that a script can see.
servers::effect servers::execute(std::size_t node, const node_state& before, const asked& what) {
    const question wanted{static_cast<std::uint8_t>(node), before, what.what, what.owner,
                          what.token};
    const auto key = key_of(wanted);
    auto found = known_.find(key);
    if (found == known_.end()) found = known_.emplace(key, run(wanted)).first;
    auto result = found->second;
    result.after.waits_for = before.waits_for;
    return result;
}

std::uint64_t servers::key_of(const question& asked) {
    std::uint64_t key = asked.node;
    key = key << 4U | asked.before.owner;
    key = key << 4U | asked.before.life;
    key = key << 1U | asked.before.quarantined;
    key = key << 16U | asked.before.counter;
    key = key << 4U | static_cast<std::uint64_t>(asked.what);
    key = key << 4U | asked.owner;
    return key << 16U | asked.token;
}

lua_runner::script_handle servers::script_of(operation what) const {
    constexpr std::array texts{&scripts::exclusive::acquire, &scripts::exclusive::commit,
                               &scripts::exclusive::release};
    const auto& text = *texts[static_cast<std::size_t>(what)];
    return scripts_.at(*scripts_.find(text.sha1)).handle;
}

// In quarantine a client denies itself, in the node's place: that is one of the moments at which
// the node could.
servers::effect servers::run(const question& asked) {
    const bool guarded = asked.before.quarantined != 0 && !broken(breakage::quarantine_not_asked);
    if (asked.what == operation::acquire && guarded) return {.after = asked.before};
    const keyspace::wall_time now{clock_of(asked.node, asked.before.life)};
    keyspace data;
    load(data, asked.before, now);
    const auto owner = owner_text(asked.owner);
    const auto second =
        asked.what == operation::commit ? std::to_string(asked.token) : std::string(ttl);
    const auto floor = std::to_string(now.count());
    const auto answer = scripts_.lua().run(script_of(asked.what), keys_of(asked.what),
                                           words{owner, second, "3600000", "1", floor}, data, now);
    if (answer.is(value::kind::error)) throw std::logic_error(answer.text);
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
