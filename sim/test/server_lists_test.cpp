// Lists, as a real server keeps them: what is answered, who is told, what a script may do.

#include <gtest/gtest.h>

#include <thread>

#include "sim/server/refusals.hpp"
#include "sim/test/both_servers.hpp"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> options{"--databases", "1", "--enable-debug-command", "yes"};
const command track{"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"};
const command heed{"CLIENT", "CACHING", "YES"};
const command all{"LRANGE", "l", "0", "-1"};

command script(std::string text) { return {"EVAL", std::move(text), "0"}; }

class lists : public testing::Test {
  protected:
    void in_both_protocols(const batch& commands) {
        for (const auto* protocol : {"2", "3"}) {
            const auto who = servers.connect();
            servers.ask(who, {{"HELLO", protocol}, {"FLUSHALL"}}, mask::identity);
            for (const auto& words : commands) servers.ask(who, {words});
        }
    }

    both_servers servers{options};
};

TEST_F(lists, grow_at_either_end) {
    in_both_protocols({{"RPUSH", "l", "a", "b"},
                       {"LPUSH", "l", "x", "y"},
                       {"rpush", "l", ""},
                       all,
                       {"LLEN", "l"},
                       {"LLEN", "none"},
                       {"TYPE", "l"},
                       {"EXISTS", "l"},
                       {"RPUSH", "l"},
                       {"LPUSH"}});
}

TEST_F(lists, shrink_at_the_head_and_vanish_when_empty) {
    in_both_protocols({{"RPUSH", "l", "a", "b"},
                       {"PEXPIRE", "l", "100000"},
                       {"LPOP", "l"},
                       {"LPOP", "l"},
                       {"LPOP", "l"},
                       {"LPOP"},
                       {"EXISTS", "l"},
                       {"TYPE", "l"},
                       {"PTTL", "l"},
                       {"RPUSH", "l", "a"},
                       {"PTTL", "l"},
                       {"LREM", "l", "0", "a"},
                       {"EXISTS", "l"},
                       {"RPUSH", "l", "a"},
                       {"DEL", "l"},
                       {"LLEN", "l"}});
}

TEST_F(lists, lose_equal_items_from_either_end) {
    for (const auto* count : {"0", "1", "2", "9", "-1", "-2", "-9", "-9223372036854775808"}) {
        in_both_protocols({{"RPUSH", "l", "a", "b", "a", "c", "a", "b"},
                           {"LREM", "l", count, "a"},
                           all,
                           {"LREM", "l", count, "none"}});
    }
    in_both_protocols({{"LREM", "none", "1", "a"},
                       {"LREM", "none", "x", "a"},
                       {"LREM", "none", "99999999999999999999", "a"},
                       {"LREM", "none", "1"}});
}

TEST_F(lists, are_read_by_place_and_by_item) {
    batch commands{{"RPUSH", "l", "a", "b", "c", "b"},
                   {"LPOS", "l", "b"},
                   {"LPOS", "l", "none"},
                   {"LPOS", "none", "b"},
                   {"LPOS", "l"},
                   {"LPOS", "l", "b", "bogus"},
                   {"LRANGE", "none", "0", "1"},
                   {"LRANGE", "none", "x", "1"},
                   {"LRANGE", "l", "0", "x"},
                   {"LRANGE", "l", "0"}};
    for (const auto* first : {"0", "1", "3", "4", "9", "-1", "-2", "-4", "-9"}) {
        for (const auto* last : {"0", "2", "3", "9", "-1", "-3", "-9"}) {
            commands.push_back({"LRANGE", "l", first, last});
        }
    }
    in_both_protocols(commands);
}

TEST_F(lists, are_of_another_type_than_strings_and_hashes) {
    in_both_protocols({{"RPUSH", "l", "a"},
                       {"SET", "s", "a"},
                       {"HSET", "h", "f", "v"},
                       {"GET", "l"},
                       {"INCR", "l"},
                       {"STRLEN", "l"},
                       {"MGET", "l", "s"},
                       {"GETRANGE", "l", "0", "1"},
                       {"HSET", "l", "f", "v"},
                       {"HMGET", "l", "f"},
                       {"HLEN", "l"},
                       {"HKEYS", "l"},
                       {"SET", "l", "x", "GET"},
                       {"SET", "l", "x", "NX"},
                       all,
                       {"LPUSH", "s", "x"},
                       {"RPUSH", "h", "x"},
                       {"LPOP", "s"},
                       {"LREM", "s", "0", "x"},
                       {"LREM", "s", "x", "x"},
                       {"LLEN", "h"},
                       {"LPOS", "s", "a"},
                       {"LPOS", "s", "a", "b"},
                       {"LRANGE", "s", "0", "1"},
                       {"LRANGE", "s", "x", "1"},
                       {"SET", "l", "x"},
                       {"GET", "l"},
                       {"LLEN", "l"},
                       {"TYPE", "l"}});
}

TEST_F(lists, are_gone_when_all_is_and_when_their_time_is_over) {
    const auto who = servers.connect();
    servers.ask(who, {{"RPUSH", "l", "a"}, {"FLUSHALL"}, {"LLEN", "l"}});
    servers.ask(who, {{"RPUSH", "l", "a"}, {"PEXPIRE", "l", "20"}, {"RPUSH", "l", "b"}});
    std::this_thread::sleep_for(40ms);
    servers.ask(who, {{"LPOS", "l", "a"}, {"RPUSH", "l", "c"}, all, {"PTTL", "l"}});
}

TEST_F(lists, tell_who_has_read_them_of_every_change) {
    const auto waiter = servers.connect();
    const auto other = servers.connect();
    servers.ask(waiter, {{"HELLO", "3"}}, mask::identity);
    servers.ask(waiter, {track});
    for (const auto& read : batch{{"LLEN", "l"},
                                  {"LPOS", "l", "a"},
                                  {"LPOS", "l", "a", "bogus"},
                                  {"LRANGE", "l", "0", "-1"},
                                  {"LRANGE", "l", "x", "-1"},
                                  {"TYPE", "l"},
                                  {"LPOP", "l"},
                                  {"LREM", "l", "0", "a"},
                                  {"RPUSH", "l", "a"}}) {
        servers.ask(waiter, {heed, read});
        servers.ask(other, {{"RPUSH", "l", "a"}});
    }
    for (const auto& change : batch{{"LPUSH", "l", "b"},
                                    {"LPOP", "l"},
                                    {"LPOP", "none"},
                                    {"LREM", "l", "0", "none"},
                                    {"LREM", "l", "1", "a"},
                                    {"LPUSH", "l"},
                                    {"PEXPIRE", "l", "100000"},
                                    {"LREM", "l", "0", "a"},
                                    {"SET", "l", "x"},
                                    {"LPUSH", "l", "a"},
                                    {"DEL", "l"}}) {
        servers.ask(waiter, {heed, {"LLEN", "l"}});
        servers.ask(other, {change});
    }
}

TEST_F(lists, tell_of_all_keys_of_a_script_that_reads_one) {
    const auto waiter = servers.connect();
    const auto other = servers.connect();
    servers.ask(waiter, {{"HELLO", "3"}}, mask::identity);
    servers.ask(waiter, {track});
    const std::string looks = "return redis.call('LLEN', KEYS[1])";
    const std::string leaves = "return redis.call('LREM', KEYS[1], 0, 'me')";
    servers.ask(waiter, {heed, {"EVAL", looks, "2", "l", "k"}});
    servers.ask(other, {{"SET", "k", "1"}, {"RPUSH", "l", "me"}});
    servers.ask(waiter, {heed, {"EVAL", leaves, "2", "l", "k"}});
    servers.ask(other, {{"SET", "k", "1"}, {"RPUSH", "l", "me"}});
}

TEST_F(lists, in_scripts_are_what_a_real_server_makes_of_them) {
    in_both_protocols(
        {script("return {redis.call('RPUSH', 'l', 'a', 1, 2.5), redis.call('LPUSH', 'l', 'b')}"),
         script("return redis.call('LRANGE', 'l', 0, -1)"),
         script("return {redis.call('LPOS', 'l', 'a'), redis.call('LPOS', 'l', 'x') == false}"),
         script("return {redis.call('LPOP', 'l'), redis.call('LPOP', 'none') == false}"),
         script("return redis.call('LREM', 'l', 0, 'a') + redis.call('LLEN', 'l')"),
         script("return redis.pcall('LPUSH', 'l')"), script("return redis.call('LPOP')")});
}

TEST_F(lists, of_the_wrong_type_do_not_end_a_script_that_expects_it) {
    in_both_protocols(
        {{"SET", "s", "x"},
         script("local r = redis.pcall('RPUSH', 's', 'a') return {type(r), r.err, r.ok}"),
         script("redis.call('SET', 'k', 1) local r = redis.pcall('LPOP', 's') "
                "return {redis.call('GET', 'k'), r.err}"),
         script("return redis.pcall('LLEN', 's')"),
         script("\nreturn redis.call('LPOS', 's', 'a')")});
}

TEST_F(lists, have_entries_that_a_script_takes_apart) {
    const std::string takes_apart =
        "local entry = redis.call('LPOP', 'l') "
        "local channel, since, owner = string.match(entry, '^(%S+) (%S+) (.*)$') "
        "local first, rest = string.match(entry, '^(%S+) %S+ (.*)$') "
        "return {channel or 'none', since or 'none', owner or 'none', first or 'none', rest or "
        "'none'}";
    batch commands;
    for (const auto* entry :
         {"c 17 me", "- 0 hf1:me and you\nand all", "c 17 ", "c 17", "", "c  x"}) {
        commands.push_back({"RPUSH", "l", entry, entry});
        commands.push_back(script(takes_apart));
        commands.push_back(script(takes_apart));
    }
    in_both_protocols(commands);
}

// Whoever has begun to write is let finish.
TEST_F(lists, without_memory_grow_only_behind_another_write_of_the_script) {
    const auto who = servers.connect();
    servers.ask(who, {{"RPUSH", "l", "a", "b", "c"}});
    servers.ask_real(who, {"CONFIG", "SET", "maxmemory", "1"});
    servers.ours().be(server::condition::out_of_memory);
    for (const auto& words :
         batch{{"RPUSH", "l", "x"},
               {"LPUSH", "l", "x"},
               {"LPOP", "l"},
               {"LREM", "l", "0", "none"},
               script("return {redis.pcall('RPUSH', 'l', 'x'), redis.call('LLEN', 'l')}"),
               script("return redis.call('LPUSH', 'l', 'x')"),
               script("return {redis.call('LPOP', 'none'), redis.pcall('RPUSH', 'l', 'x'), "
                      "redis.pcall('SET', 'k', 'x')}"),
               script("return {redis.pcall('LLEN', 'l'), redis.pcall('LPUSH', 'l', 'x'), "
                      "redis.call('LREM', 'l', 0, 'x'), redis.pcall('LPUSH', 'l', 'y')}"),
               script("return {redis.pcall('RPUSH', 's'), redis.pcall('RPUSH', 's', 'x')}"),
               all}) {
        servers.ask(who, {words});
    }
}

TEST_F(lists, of_a_replica_stay_as_they_are) {
    const auto who = servers.connect();
    servers.ask(who, {{"RPUSH", "l", "a", "b"}});
    servers.ask_real(who, {"REPLICAOF", "127.0.0.1", "1"});
    servers.ours().demote();
    for (const auto& words : batch{{"RPUSH", "l", "x"},
                                   {"LPOP", "l"},
                                   {"LREM", "l", "0", "a"},
                                   {"LREM", "l", "0", "none"},
                                   script("return {redis.pcall('LPOP', 'none')}"),
                                   script("return redis.call('RPUSH', 'l', 'x')"),
                                   all}) {
        servers.ask(who, {words});
    }
}

TEST_F(lists, without_the_right_to_them_are_refused_in_a_script_as_well) {
    const auto who = servers.connect();
    servers.ask_real(who, {"ACL", "SETUSER", "default", "-lpush", "-lpop"});
    std::string why;
    const auto forbidden = [](const asked_command& asked) {
        return asked.name == "lpush" || asked.name == "lpop";
    };
    servers.ours().refuse([&](const asked_command& asked) {
        why = "NOPERM this user has no permissions to run the '" + std::string(asked.name) +
              "' command";
        return forbidden(asked) && !asked.in_script ? std::string_view(why) : std::string_view{};
    });
    servers.ours().refuse_in_scripts([&](const asked_command& asked) {
        return forbidden(asked) && asked.in_script ? refusals::not_permitted_in_script
                                                   : std::string_view{};
    });
    for (const auto& words :
         batch{{"LPUSH", "l", "x"},
               {"LPOP", "l"},
               {"LPUSH", "l"},
               {"RPUSH", "l", "x"},
               script("local r = redis.pcall('LPUSH', 'l', 'y') return {type(r), r.err}"),
               script("redis.call('SET', 'k', 1) return {redis.pcall('LPOP', 'l'), 2}"),
               script("\n\nreturn redis.call('LPUSH', 'l', 'y')"),
               script("return redis.pcall('LPUSH', 'l')"),
               script("return redis.pcall('lpop', 'l')"),
               {"GET", "k"},
               all}) {
        servers.ask(who, {words});
    }
}

}  // namespace
}  // namespace holdfast::sim
