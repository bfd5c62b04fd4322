#pragma once

#include <chrono>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

/// A client of version 0.1, reduced to what it asks of a server: its two scripts, to the letter.
namespace holdfast::test::version_0_1 {

inline const std::string acquire_script = R"lua(if KEYS[4] then
    local guard = redis.call('MGET', KEYS[4], KEYS[5])
    if guard[2] then return {2, redis.call('PTTL', KEYS[5])} end
    if not guard[1] then return {3} end
end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return {0, redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}
end
if not KEYS[2] or ARGV[3] == '0' then return {1, 0} end
local known = redis.call('MGET', KEYS[2], KEYS[3])
local counter = tonumber(known[1] or nil)
local condition = counter and 'XX' or 'NX'
local floor = counter and tonumber(string.match(known[2] or '', '%d+$')) or 0
local first = counter and counter + 1
if not first or first < floor then
    local time = redis.call('TIME')
    first = math.max(time[1] * 1000000 + time[2], first or 0)
end
counter = first + ARGV[4] - 1
local text = string.format('%.0f', counter)
if not redis.call('SET', KEYS[2], text, condition, 'PX', ARGV[3]) then
    redis.call('DEL', KEYS[1])
    return {err = 'WRONGTYPE there is something else at the fencing counter ' .. KEYS[2]}
end
return {1, counter})lua";

inline const std::string enlist_script =
    R"lua(local known = KEYS[2] and redis.call('GET', KEYS[2]) == ARGV[1]
local life = string.match(redis.call('GET', KEYS[1]) or '', '^%S*')
if life ~= ARGV[1] or KEYS[2] and (not known or ARGV[2] == '0') then
    local time = redis.call('TIME')
    local grants_from = (time[1] * 1000 + ARGV[2]) * 1000 + time[2]
    redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. string.format('%.0f', grants_from))
end
if not KEYS[2] then return {0, -2} end
if not known then redis.call('SET', KEYS[2], ARGV[1]) end
if ARGV[2] == '0' then
    redis.call('DEL', KEYS[3])
elseif not known and redis.call('PTTL', KEYS[3]) < tonumber(ARGV[2]) then
    redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[2])
end
return {known and 0 or 1, redis.call('PTTL', KEYS[3])})lua";

enum class answer : std::uint8_t { held, granted, quarantined, unlisted };

struct vote {
    answer code;
    std::uint64_t token;
};

inline vote ask(const redis_server& server, const std::string& key, const std::string& owner,
                bool guarded) {
    std::vector<std::string> command{
        "EVAL",         acquire_script, guarded ? "5" : "3", key, "holdfast:{" + key + "}:fence",
        "holdfast:life"};
    if (guarded) command.insert(command.end(), {"holdfast:node", "holdfast:quarantine"});
    command.insert(command.end(), {owner, "1000", "3600000", "1"});
    std::istringstream said(server.command(command));
    int code = 0;
    std::uint64_t token = 0;
    said >> code >> token;
    return {static_cast<answer>(code), token};
}

inline vote acquire(const redis_server& server, const std::string& key, const std::string& owner) {
    return ask(server, key, owner, true);
}

inline vote acquire_unguarded(const redis_server& server, const std::string& key,
                              const std::string& owner) {
    return ask(server, key, owner, false);
}

inline void enlist(const redis_server& server, std::chrono::milliseconds quarantine) {
    const auto info = server.command({"INFO", "server"});
    const auto run_id = info.substr(info.find("run_id:") + 7, 40);
    server.command({"EVAL", enlist_script, "3", "holdfast:life", "holdfast:node",
                    "holdfast:quarantine", run_id, std::to_string(quarantine.count())});
}

}  // namespace holdfast::test::version_0_1
