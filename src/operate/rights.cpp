#include "operate/rights.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/judge.hpp"
#include "resp/view.hpp"

namespace holdfast::detail {
namespace {

using command = std::vector<std::string>;

struct right {
    command probe;
    std::string rule;
};

enum class refusal : std::uint8_t { none, of_the_command, of_the_key };

// The ACL is asked before the command is looked at: any other error means that it is allowed.
refusal try_out(interview& with, const command& probe) HOLDFAST_LOCKED {
    const auto reply = with.ask(probe);
    if (!reply || !resp::view(*reply).text().starts_with("NOPERM")) return refusal::none;
    const auto why = resp::view(*reply).text();
    return why.find("permissions to run") != why.npos ? refusal::of_the_command
                                                      : refusal::of_the_key;
}

// NX with XX is an error, after the ACL has been asked.
command harmless_set(const std::string& key) { return {"SET", key, "1", "NX", "XX"}; }

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

// Scripts get a key for reading and writing. Where no command is allowed by which it could be
// found out, the key counts as missing: too many rules are better than one run after the other.
bool may_use(interview& with, const std::string& key) HOLDFAST_LOCKED {
    const std::vector<command> probes = {
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
    find_commands(with, further_rights(lock.lock), found.further);
    std::erase_if(found.further, [&](const std::string& rule) {
        return std::find(found.to_lock.begin(), found.to_lock.end(), rule) != found.to_lock.end();
    });
    return found;
}

}  // namespace holdfast::detail
