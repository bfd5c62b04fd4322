#include "operate/rights.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/hash_slot.hpp"
#include "core/judge.hpp"
#include "resp/view.hpp"

namespace holdfast::detail {
namespace {

using probe_command = std::vector<std::string>;

struct right {
    probe_command probe;
    std::string rule;
};

enum class refusal : std::uint8_t { none, of_the_command, of_the_key };

// The ACL is asked before the command is looked at: any other error means that it is allowed.
refusal try_out(interview& with, const probe_command& probe) HOLDFAST_LOCKED {
    const auto reply = with.ask(probe);
    if (!reply || !resp::view(*reply).text().starts_with("NOPERM")) return refusal::none;
    const auto why = resp::view(*reply).text();
    return why.find("permissions to run") != why.npos ? refusal::of_the_command
                                                      : refusal::of_the_key;
}

/// Of a command that a script calls. Up to Redis 7.0 that is said in other words.
bool is_refused_in_script(interview& with, const probe_command& probe) HOLDFAST_LOCKED {
    const auto reply = with.ask(probe);
    if (!reply || !resp::view(*reply).is_error()) return false;
    const auto why = resp::view(*reply).text();
    const auto says = [&](std::string_view words) { return why.find(words) != why.npos; };
    return says("permissions to run") || says("can't run this command");
}

// NX with XX is an error, after the ACL has been asked.
probe_command harmless_set(const std::string& key) { return {"SET", key, "1", "NX", "XX"}; }

/// Whether replicas have to acknowledge: where it is not said, if the size of a group is known.
bool acknowledged(interview& with) HOLDFAST_LOCKED {
    const bool by_default = with.engine().cluster() != nullptr || with.node().follows();
    const auto unsaid = by_default ? replicas::majority() : replicas::none();
    return with.engine().settings().replica_acks.value_or(unsaid) != replicas::none();
}

/// To find the servers of a Cluster, and to know how many there are in a shard.
std::vector<right> rights_in_cluster() {
    return {{{"CLUSTER", "SLOTS"}, "+cluster|slots"}, {{"CLUSTER", "SHARDS"}, "+cluster|shards"}};
}

std::vector<right> rights_to_lock(const std::string& key, bool guarded) {
    std::vector<right> all = {{{"EVAL", "return 1", "0"}, "+eval"},
                              {{"EVALSHA", std::string(40, '0'), "0"}, "+evalsha"},
                              {harmless_set(key), "+set"},
                              {{"GET", key}, "+get"},
                              {{"MGET", key}, "+mget"},
                              {{"DEL", key}, "+del"},
                              {{"PTTL", key}, "+pttl"},
                              {{"PEXPIRE", key, "1"}, "+pexpire"},
                              {{"TIME"}, "+time"}};
    if (!guarded) return all;
    all.push_back({{"INFO", "server"}, "+info"});
    all.push_back({{"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"}, "+client|tracking"});
    return all;
}

std::vector<right> further_rights(const std::string& key) {
    return {{{"INFO", "server"}, "+info"},
            {{"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"}, "+client|tracking"},
            {{"CLIENT", "CACHING", "YES"}, "+client|caching"},
            {{"PING"}, "+ping"},
            {{"GETRANGE", key, "0", "0"}, "+getrange"},
            {{"HMGET", key, "at"}, "+hmget"},
            {{"HLEN", key}, "+hlen"},
            {{"HKEYS", key}, "+hkeys"},
            {{"SCAN", "0", "COUNT", "1"}, "+scan"}};
}

/// For semaphores and read-write locks. XX with NX is an error, as above.
std::vector<right> rights_to_share(const std::string& key) {
    return {{{"ZSCORE", key, "x"}, "+zscore"},
            {{"ZADD", key, "XX", "NX", "1", "x"}, "+zadd"},
            {{"ZREM", key, "x"}, "+zrem"},
            {{"ZREMRANGEBYSCORE", key, "0", "0"}, "+zremrangebyscore"},
            {{"ZRANGE", key, "0", "0"}, "+zrange"},
            {{"ZREVRANGE", key, "0", "0"}, "+zrevrange"},
            {{"ZRANGEBYSCORE", key, "0", "0"}, "+zrangebyscore"},
            {{"ZCOUNT", key, "0", "0"}, "+zcount"}};
}

/// To see who waits.
std::vector<right> rights_to_see_the_queue(const std::string& key) {
    return {{{"LRANGE", key, "0", "0"}, "+lrange"}, {{"LLEN", key}, "+llen"}};
}

/// On a queue that is empty they do nothing.
std::vector<right> rights_to_queue(const std::string& queue) {
    return {{{"LPOP", queue}, "+lpop"},
            {{"LREM", queue, "1", "x"}, "+lrem"},
            {{"LLEN", queue}, "+llen"},
            {{"LPOS", queue, "x"}, "+lpos"}};
}

/// How waiters are called at a server, and are heard there.
struct calling {
    std::string publish = "PUBLISH";
    std::string subscribe = "SUBSCRIBE";
    std::string channel = std::string(kinds::own_keys) + "client:doctor";

    /// Nobody listens to it.
    [[nodiscard]] probe_command probe() const { return {publish, channel, "x"}; }
};

// As net::slot does it: on a channel in the slot, where the server knows such.
calling calling_at(interview& with, const std::string& lock) HOLDFAST_LOCKED {
    calling everywhere;
    if (with.engine().cluster() == nullptr) return everywhere;
    const calling sharded{
        .publish = "SPUBLISH",
        .subscribe = "SSUBSCRIBE",
        .channel = everywhere.channel + ":{" + core::slot_tag(core::hash_slot(lock)) + "}"};
    const auto reply = with.ask(sharded.probe());
    const bool unknown = reply && resp::view(*reply).text().starts_with("ERR unknown command");
    return unknown ? everywhere : sharded;
}

std::string rule_for(std::string command) {
    for (char& letter : command) letter = static_cast<char>(letter - 'A' + 'a');
    return "+" + command;
}

// Scripts get a key for reading and writing. Where no command is allowed by which it could be
// found out, the key counts as missing: too many rules are better than one run after the other.
bool may_use(interview& with, const std::string& key) HOLDFAST_LOCKED {
    const std::vector<probe_command> probes = {
        {"EVAL", "return 1", "1", key}, harmless_set(key), {"GET", key}, {"PTTL", key}};
    for (const auto& probe : probes) {
        const auto found = try_out(with, probe);
        if (found != refusal::of_the_command) return found == refusal::none;
    }
    return false;
}

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (std::string_view("*?[]\\").find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result;
}

void note(std::vector<std::string>& rules, const std::string& rule) {
    if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(rule);
}

void find_commands(interview& with, const std::vector<right>& wanted,
                   std::vector<std::string>& missing) HOLDFAST_LOCKED {
    for (const auto& [probe, rule] : wanted) {
        if (try_out(with, probe) == refusal::of_the_command) note(missing, rule);
    }
}

/// No form of it is harmless. The script names no key: a command is refused before its keys are.
void find_push(interview& with, const std::string& queue,
               std::vector<std::string>& missing) HOLDFAST_LOCKED {
    const std::string push_and_delete =
        "local gone = redis.pcall('DEL', ARGV[1]) "
        "if type(gone) == 'table' and gone.err then return gone end "
        "local said = redis.pcall('RPUSH', ARGV[1], 'x') "
        "redis.pcall('DEL', ARGV[1]) "
        "return said";
    if (is_refused_in_script(with, {"EVAL", push_and_delete, "0", queue})) note(missing, "+rpush");
}

// To subscribe is answered by a push, and never by a reply. Redis 7 can be asked; an older one says
// it only to whoever tries.
void find_subscribe(interview& with, const calling& how,
                    std::vector<std::string>& missing) HOLDFAST_LOCKED {
    const std::string may_subscribe =
        "if not redis.acl_check_cmd then return 1 end "
        "return redis.acl_check_cmd(ARGV[1]) and 1 or 0";
    const auto reply = with.ask({"EVAL", may_subscribe, "0", how.subscribe});
    if (reply && resp::view(*reply).integer() != 1) note(missing, rule_for(how.subscribe));
}

/// Rights to channels came with 6.2; in 6.0 the rule would be an error.
bool has_rights_to_channels(const net::greeting& said) {
    return !said.field("redis_version").starts_with("6.0.");
}

void find_channel(interview& with, const calling& how,
                  std::vector<std::string>& missing) HOLDFAST_LOCKED {
    if (!has_rights_to_channels(with.node().said())) return;
    if (try_out(with, how.probe()) != refusal::none) note(missing, "&holdfast:*");
}

std::vector<std::string> find_queue_rights(interview& with,
                                           const std::string& lock) HOLDFAST_LOCKED {
    std::vector<std::string> missing;
    const auto queue = kinds::queue_key(lock);
    const auto how = calling_at(with, lock);
    find_channel(with, how, missing);
    find_commands(with, rights_to_queue(queue), missing);
    find_commands(with, {{how.probe(), rule_for(how.publish)}}, missing);
    find_push(with, queue, missing);
    find_subscribe(with, how, missing);
    return missing;
}

}  // namespace

lacking_rights find_lacking_rights(interview& with, const std::string& prefix,
                                   const kinds::keys& lock, bool guarded) {
    lacking_rights found;
    const std::string ours = "~holdfast:*";
    if (!may_use(with, lock.lock)) {
        note(found.to_lock, prefix.empty() ? ours : "~" + escaped(prefix) + "*");
    }
    for (const auto& key :
         {kinds::counter_key(lock.lock), std::string(core::record_key), std::string(core::life_key),
          std::string(core::marker_key), std::string(core::quarantine_key)}) {
        if (!may_use(with, key)) note(found.to_lock, ours);
    }
    find_commands(with, rights_to_lock(lock.lock, guarded), found.to_lock);
    if (acknowledged(with)) find_commands(with, {{{"WAIT", "0", "1"}, "+wait"}}, found.to_lock);
    if (with.engine().cluster() != nullptr) {
        find_commands(with, rights_in_cluster(), found.to_lock);
    }
    find_commands(with, further_rights(lock.lock), found.further);
    find_commands(with, rights_to_share(lock.lock), found.further);
    if (lock.queued) {
        find_commands(with, rights_to_see_the_queue(lock.lock), found.further);
        found.to_queue = find_queue_rights(with, lock.lock);
    }
    std::erase_if(found.further, [&](const std::string& rule) {
        return std::find(found.to_lock.begin(), found.to_lock.end(), rule) != found.to_lock.end();
    });
    return found;
}

}  // namespace holdfast::detail
