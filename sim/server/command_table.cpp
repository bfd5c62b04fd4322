#include "sim/server/command_table.hpp"

#include <array>

#include "sim/server/words.hpp"

namespace holdfast::sim {
namespace {

constexpr auto client = letters("CLIENT");
constexpr auto config = letters("CONFIG");
constexpr auto script = letters("SCRIPT");

constexpr unsigned greeting = while_loading | for_strangers | of_handshakes;
constexpr unsigned setting_up = while_loading | of_handshakes;

constexpr command_row bare_client{client, 0, "client", -2, 0, false, nullptr};
constexpr command_row bare_config{config, 0, "config", -2, 0, false, nullptr};
constexpr command_row bare_script{script, 0, "script", -2, 0, false, nullptr};

bool fits(int wanted, std::size_t words) {
    const auto count = static_cast<int>(words);
    return wanted < 0 ? count >= -wanted : count == wanted;
}

}  // namespace

// What runs most often comes first.
constinit const std::array<command_row, command_table::size> command_table::rows{
    command_row{letters("EVALSHA"), 0, "evalsha", -3, 0, false, &server::evalsha},
    command_row{client, letters("CACHING"), "client|caching", 3, while_loading, false,
                &server::caching},
    command_row{letters("EVAL"), 0, "eval", -3, of_handshakes, false, &server::eval},
    command_row{letters("SET"), 0, "set", -3, writes | grows, true, &server::of_data},
    command_row{letters("TIME"), 0, "time", 1, while_loading, false, &server::of_data},
    command_row{letters("INFO"), 0, "info", -1, setting_up, false, &server::info},
    command_row{letters("GET"), 0, "get", 2, 0, true, &server::of_data},
    command_row{letters("DEL"), 0, "del", -2, writes, true, &server::of_data},
    command_row{letters("PING"), 0, "ping", -1, for_subscribers, false, &server::ping},
    command_row{letters("HELLO"), 0, "hello", -1, greeting, false, &server::hello},
    command_row{letters("AUTH"), 0, "auth", -2, greeting, false, &server::auth},
    command_row{letters("SELECT"), 0, "select", 2, setting_up, false, &server::select},
    command_row{client, letters("TRACKING"), "client|tracking", -3, setting_up, false,
                &server::tracking},
    command_row{client, letters("SETNAME"), "client|setname", 3, setting_up, false,
                &server::set_name},
    command_row{client, letters("GETNAME"), "client|getname", 2, while_loading, false,
                &server::get_name},
    command_row{client, letters("ID"), "client|id", 2, while_loading, false, &server::client_id},
    command_row{client, letters("KILL"), "client|kill", -3, while_loading, false,
                &server::client_kill},
    command_row{script, letters("LOAD"), "script|load", 3, of_handshakes, false,
                &server::script_load},
    command_row{script, letters("EXISTS"), "script|exists", -3, 0, false, &server::script_exists},
    command_row{script, letters("FLUSH"), "script|flush", -2, 0, false, &server::script_flush},
    command_row{config, letters("GET"), "config|get", -3, while_loading, false,
                &server::config_get},
    command_row{letters("ROLE"), 0, "role", 1, while_loading, false, &server::role},
    command_row{letters("EXISTS"), 0, "exists", -2, 0, true, &server::of_data},
    command_row{letters("INCR"), 0, "incr", 2, writes | grows, true, &server::of_data},
    command_row{letters("PEXPIRE"), 0, "pexpire", -3, writes, true, &server::of_data},
    command_row{letters("PTTL"), 0, "pttl", 2, 0, true, &server::of_data},
    command_row{letters("MGET"), 0, "mget", -2, 0, true, &server::of_data},
    command_row{letters("STRLEN"), 0, "strlen", 2, 0, true, &server::of_data},
    command_row{letters("GETRANGE"), 0, "getrange", 4, 0, true, &server::of_data},
    command_row{letters("TYPE"), 0, "type", 2, 0, true, &server::of_data},
    command_row{letters("SUBSCRIBE"), 0, "subscribe", -2, setting_up | for_subscribers, false,
                &server::subscribe},
    command_row{letters("UNSUBSCRIBE"), 0, "unsubscribe", -1, while_loading | for_subscribers,
                false, &server::unsubscribe},
    command_row{letters("PUBLISH"), 0, "publish", 3, while_loading, false, &server::publish},
    command_row{letters("WAIT"), 0, "wait", 3, 0, false, &server::wait},
    command_row{letters("LPUSH"), 0, "lpush", -3, writes | grows, true, &server::of_data},
    command_row{letters("RPUSH"), 0, "rpush", -3, writes | grows, true, &server::of_data},
    command_row{letters("LPOP"), 0, "lpop", -2, writes, true, &server::of_data},
    command_row{letters("LREM"), 0, "lrem", 4, writes, true, &server::of_data},
    command_row{letters("LLEN"), 0, "llen", 2, 0, true, &server::of_data},
    command_row{letters("LPOS"), 0, "lpos", -3, 0, true, &server::of_data},
    command_row{letters("LRANGE"), 0, "lrange", 4, 0, true, &server::of_data},
    command_row{letters("ZADD"), 0, "zadd", -4, writes | grows, true, &server::of_data},
    command_row{letters("ZREM"), 0, "zrem", -3, writes, true, &server::of_data},
    command_row{letters("ZREMRANGEBYSCORE"), 0, "zremrangebyscore", 4, writes, true,
                &server::of_data},
    command_row{letters("ZSCORE"), 0, "zscore", 3, 0, true, &server::of_data},
    command_row{letters("ZREVRANGE"), 0, "zrevrange", -4, 0, true, &server::of_data},
    command_row{letters("ZRANGE"), 0, "zrange", -4, 0, true, &server::of_data},
    command_row{letters("ZRANGEBYSCORE"), 0, "zrangebyscore", -4, 0, true, &server::of_data},
    command_row{letters("ZCOUNT"), 0, "zcount", 4, 0, true, &server::of_data},
    command_row{letters("HSETNX"), 0, "hsetnx", 4, writes | grows, true, &server::of_data},
    command_row{letters("HSET"), 0, "hset", -4, writes | grows, true, &server::of_data},
    command_row{letters("HMGET"), 0, "hmget", -3, 0, true, &server::of_data},
    command_row{letters("HLEN"), 0, "hlen", 2, 0, true, &server::of_data},
    command_row{letters("HKEYS"), 0, "hkeys", 2, 0, true, &server::of_data},
    command_row{letters("FLUSHALL"), 0, "flushall", -1, writes, false, &server::of_data},
    command_row{letters("FLUSHDB"), 0, "flushdb", -1, writes, false, &server::of_data},
};

lookup command_table::find(keyspace::arguments words, const command_row*& row) {
    const auto name = letters(words.front());
    const bool is_group = name == client || name == config || name == script;
    const auto second = is_group && words.size() > 1 ? letters(words[1]) : 0;
    for (const auto& each : rows) {
        if (each.name != name || each.second != second) continue;
        row = &each;
        return fits(each.words, words.size()) ? lookup::found : lookup::wrong_count;
    }
    if (!is_group) return lookup::unknown;
    row = name == client ? &bare_client : name == config ? &bare_config : &bare_script;
    return words.size() == 1 ? lookup::wrong_count : lookup::unknown_second;
}

}  // namespace holdfast::sim
