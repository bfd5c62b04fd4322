// The simulated server answers as a real one does, byte for byte.

#include <gtest/gtest.h>

#include "scripts/embedded.hpp"
#include "sim/server/sha1.hpp"
#include "sim/test/both_servers.hpp"

namespace holdfast::sim {
namespace {

const std::vector<std::string> one_database{"--databases", "1"};

std::string text_of(const scripts::script& s) { return std::string(s.text); }
std::string digest_of(const scripts::script& s) { return std::string(s.sha1); }

// Both protocols in turn: what differs between them is compared with each.
class answers : public testing::Test {
  protected:
    void in_both_protocols(const batch& commands, mask what = mask::nothing) {
        for (const auto* protocol : {"2", "3"}) {
            const auto who = servers.connect();
            servers.ask(who, {{"HELLO", protocol}}, mask::identity);
            for (const auto& words : commands) servers.ask(who, {words}, what);
        }
    }

    both_servers servers{one_database};
};

TEST_F(answers, of_a_greeting_are_those_of_a_real_server) {
    in_both_protocols({{"HELLO"},
                       {"HELLO", "3"},
                       {"hello", "2"},
                       {"HELLO", "4"},
                       {"HELLO", "x"},
                       {"HELLO", "3", "FOO"},
                       {"HELLO", "3", "AUTH", "x"},
                       {"HELLO", "3", "AUTH", "alice", "x"},
                       {"HELLO", "3", "AUTH", "default", "x", "SETNAME", "me"},
                       {"CLIENT", "GETNAME"},
                       {"HELLO", "2", "SETNAME", "a b"},
                       {"AUTH", "x"},
                       {"AUTH", "alice", "x"},
                       {"AUTH", "default", "x"},
                       {"AUTH", "a", "b", "c"},
                       {"AUTH"}},
                      mask::identity);
}

TEST_F(answers, about_connections_are_those_of_a_real_server) {
    in_both_protocols({{"PING"},
                       {"PING", "word"},
                       {"PING", "a", "b"},
                       {"SELECT", "0"},
                       {"SELECT", "1"},
                       {"SELECT", "x"},
                       {"CLIENT", "GETNAME"},
                       {"CLIENT", "SETNAME", "holdfast/0.2"},
                       {"client", "getname"},
                       {"CLIENT", "SETNAME", "a b"},
                       {"CLIENT", "SETNAME"},
                       {"CLIENT", "CACHING", "YES"},
                       {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"},
                       {"CLIENT", "CACHING", "NO"},
                       {"CLIENT", "CACHING", "YES"},
                       {"CLIENT", "CACHING", "x"},
                       {"CLIENT", "TRACKING", "ON"},
                       {"CLIENT", "CACHING", "YES"},
                       {"CLIENT", "TRACKING", "x"},
                       {"CLIENT", "TRACKING", "ON", "x"},
                       {"CLIENT", "TRACKING", "OFF"},
                       {"CLIENT", "TRACKING"},
                       {"CLIENT", "SETINFO", "LIB-NAME", "x"},
                       {"CLIENT", "KILL", "ID", "999999"},
                       {"CLIENT", "KILL", "ID", "x"},
                       {"CLIENT", "KILL", "somebody"},
                       {"CLIENT"},
                       {"CLIENT", "nothing"}});
    in_both_protocols({{"CLIENT", "ID"}}, mask::identity);
}

TEST_F(answers, about_the_server_are_those_of_a_real_one) {
    in_both_protocols({{"CONFIG", "GET", "appendonly"},
                       {"CONFIG", "GET", "appendfsync"},
                       {"CONFIG", "GET", "save"},
                       {"CONFIG", "GET", "maxmemory"},
                       {"CONFIG", "GET", "MAXMEMORY-POLICY"},
                       {"CONFIG", "GET", "databases"},
                       {"CONFIG", "GET", "nothing"},
                       {"CONFIG", "GET"},
                       {"CONFIG", "nothing"},
                       {"INFO", "nothing"},
                       {"ROLE"},
                       {"TIME", "x"}});
    in_both_protocols({{"TIME"}, {"time"}}, mask::clock);
    in_both_protocols({{"INFO", "replication"}, {"info", "Replication"}}, mask::offsets);
}

TEST_F(answers, to_what_no_server_knows_are_those_of_a_real_one) {
    in_both_protocols({{"nothing"},
                       {"nothing", "a", "b"},
                       {"nothing", std::string(200, 'x'), "y"},
                       {"nothing", std::string(100, 'x'), std::string(100, 'y'), "z"},
                       {std::string(200, 'n')},
                       {"nothing\r\nat all", "a\nb"},
                       {""},
                       {"GET"},
                       {"SET", "a"},
                       {"GET", "a", "b"},
                       {"GETRANGE", "a"}});
}

TEST_F(answers, about_data_are_those_of_a_real_server) {
    in_both_protocols({{"FLUSHALL"},
                       {"SET", "s", "text"},
                       {"SET", "s", "text", "NX"},
                       {"SET", "s", "more", "XX", "GET"},
                       {"SET", "s", "x", "bogus"},
                       {"GET", "s"},
                       {"GET", "none"},
                       {"MGET", "s", "none"},
                       {"EXISTS", "s", "none", "s"},
                       {"STRLEN", "s"},
                       {"STRLEN", "none"},
                       {"GETRANGE", "s", "0", "1"},
                       {"GETRANGE", "s", "-3", "-2"},
                       {"GETRANGE", "s", "-2", "-3"},
                       {"GETRANGE", "s", "2", "99"},
                       {"GETRANGE", "s", "9", "99"},
                       {"GETRANGE", "s", "-99", "0"},
                       {"GETRANGE", "none", "0", "1"},
                       {"GETRANGE", "s", "x", "1"},
                       {"TYPE", "s"},
                       {"TYPE", "none"},
                       {"PTTL", "s"},
                       {"PTTL", "none"},
                       {"INCR", "s"},
                       {"INCR", "n"},
                       {"PEXPIRE", "none", "1"},
                       {"PEXPIRE", "s", "x"},
                       {"DEL", "s", "none"},
                       {"HSET", "h", "at", "1", "by", "me"},
                       {"HSET", "h", "at", "2", "why", "so"},
                       {"HSET", "h", "at"},
                       {"HSET", "n", "at", "1"},
                       {"HSETNX", "h", "at", "3"},
                       {"HSETNX", "h", "new", "3"},
                       {"HSETNX", "none", "new", "3"},
                       {"HSETNX", "n", "new", "3"},
                       {"HMGET", "h", "at", "none", "by"},
                       {"HMGET", "none", "at"},
                       {"HLEN", "h"},
                       {"HLEN", "none"},
                       {"HKEYS", "h"},
                       {"HKEYS", "none"},
                       {"HKEYS", "n"},
                       {"TYPE", "h"},
                       {"GET", "h"},
                       {"INCR", "h"},
                       {"MGET", "h", "n"},
                       {"STRLEN", "h"},
                       {"SET", "h", "x", "GET"},
                       {"SET", "h", "x"},
                       {"GET", "h"},
                       {"FLUSHALL", "x"},
                       {"FLUSHDB", "ASYNC"},
                       {"FLUSHALL", "SYNC"},
                       {"EXISTS", "h"}});
}

TEST_F(answers, of_any_script_are_those_of_a_real_server) {
    in_both_protocols(
        {{"EVAL", "return {1, false, true, 'x', {err='FOO bar'}, {ok='fine'}, 1.9}", "0"},
         {"EVAL", "return {1, nil, 3}", "0"},
         {"EVAL", "return false", "0"},
         {"EVAL", "return nil", "0"},
         {"EVAL", "return true", "0"},
         {"EVAL", "return {{}, {1, {2, false}}}", "0"},
         {"EVAL", "return {KEYS[1], ARGV[1], ARGV[2]}", "1", "k", "a", "b"},
         {"EVAL", "return {err='MY own'}", "0"},
         {"EVAL", "error({err='MY own'})", "0"},
         {"EVAL", "\n\nerror('mine')", "0"},
         {"EVAL", "return 1 < nil", "0"},
         {"EVAL", "return =", "0"},
         {"EVAL", "return 1", "x"},
         {"EVAL", "return 1", "-1"},
         {"EVAL", "return 1", "2", "a"},
         {"EVAL"},
         {"SET", "t", "abc"},
         {"EVAL", "local x = 1\nreturn redis.call('INCR', 't')", "0"},
         {"EVAL", "return redis.pcall('INCR', 't')", "0"},
         {"EVAL", "return {redis.pcall('INCR', 't'), 1}", "0"},
         {"EVAL", "local function f() return redis.call('INCR', 't') end\n\nreturn f()", "0"},
         {"EVAL", "return redis.call('nothing')", "0"},
         {"EVAL", "return redis.call('INCR')", "0"},
         {"EVAL", "return redis.call('MGET', 't', 'none')", "0"},
         {"EVAL", "return redis.call('SET', 't', 'x', 'NX')", "0"},
         {"EVAL", "return redis.call('SET', 't', 'x')", "0"}});
}

TEST_F(answers, about_the_cache_of_scripts_are_those_of_a_real_server) {
    const auto script = text_of(scripts::exclusive::release);
    const auto digest = digest_of(scripts::exclusive::release);
    in_both_protocols({{"SCRIPT", "FLUSH"},
                       {"EVALSHA", digest, "1", "k", "o"},
                       {"EVALSHA", std::string(40, '0'), "0"},
                       {"EVALSHA", "short", "0"},
                       {"SCRIPT", "EXISTS", digest, "x"},
                       {"SCRIPT", "LOAD", script},
                       {"SCRIPT", "EXISTS", digest, "x"},
                       {"EVALSHA", digest, "1", "k", "o"},
                       {"SCRIPT", "FLUSH", "ASYNC"},
                       {"EVALSHA", digest, "1", "k", "o"},
                       {"EVAL", script, "1", "k", "o"},
                       {"EVALSHA", digest, "1", "k", "o"},
                       {"SCRIPT", "LOAD", "return 'one that nobody has seen'"},
                       {"SCRIPT", "LOAD", "return ="},
                       {"SCRIPT", "FLUSH", "x"},
                       {"SCRIPT", "LOAD"},
                       {"SCRIPT"},
                       {"SCRIPT", "nothing"},
                       {"EVALSHA", digest, "x"},
                       {"EVALSHA", digest, "9", "k"}});
}

// All tokens lie above the floor, so that no clock shows in them.
TEST_F(answers, of_the_shipped_scripts_are_those_of_a_real_server) {
    const std::string floor = "4000000000000000";
    const std::string kept = "3600000";
    const auto call = [&](const scripts::script& s, command rest) {
        command words{"EVALSHA", digest_of(s)};
        words.insert(words.end(), rest.begin(), rest.end());
        return words;
    };
    batch commands{{"FLUSHALL"}};
    for (const auto* s :
         {&scripts::exclusive::acquire, &scripts::exclusive::commit, &scripts::exclusive::extend,
          &scripts::exclusive::release, &scripts::enlist, &scripts::exclusive::force,
          &scripts::exclusive::linger}) {
        commands.push_back({"SCRIPT", "LOAD", text_of(*s)});
    }
    for (const command& words : batch{
             call(scripts::exclusive::acquire,
                  {"2", "k", "f", "alice", "100000", kept, "3", floor}),
             {"GET", "f"},
             call(scripts::exclusive::commit, {"2", "k", "f", "alice", "4000000000000009", kept}),
             call(scripts::exclusive::commit, {"2", "k", "f", "bob", "4000000000000019", kept}),
             {"GET", "f"},
             call(scripts::exclusive::extend, {"2", "k", "f", "alice", "200000", kept}),
             call(scripts::exclusive::extend, {"2", "k", "f", "bob", "200000", kept}),
             call(scripts::exclusive::linger, {"2", "k", "f", "alice", "300000", kept}),
             call(scripts::exclusive::release, {"1", "k", "bob"}),
             call(scripts::exclusive::release, {"1", "k", "alice"}),
             call(scripts::exclusive::acquire, {"1", "k", "bob", "100000"}),
             call(scripts::exclusive::force,
                  {"2", "k", "note", "bob", "100000", "me", "host", "why"}),
             {"HMGET", "note", "by", "held_by", "reason"},
             call(scripts::exclusive::acquire,
                  {"2", "k", "note", "eve", "100000", kept, "1", floor}),
             {"EXISTS", "k"},
             {"SET", "f", "no number"},
             call(scripts::exclusive::acquire, {"1", "k", "eve", "100000"}),
             call(scripts::exclusive::commit, {"2", "k", "f", "eve", "1", kept}),
             {"DEL", "k"},
             {"HSET", "k", "a", "b"},
             call(scripts::exclusive::acquire, {"1", "k", "eve", "100000"}),
             call(scripts::exclusive::release, {"1", "k", "eve"}),
             call(scripts::enlist, {"4", "r", "l", "m", "q", "run", "replication", "0", "", "9"}),
             call(scripts::enlist, {"4", "k", "l", "m", "q", "run", "replication", "0", "", "9"}),
         }) {
        commands.push_back(words);
    }
    in_both_protocols(commands, mask::times);
}

TEST_F(answers, of_a_denial_name_the_owner_and_what_is_left) {
    const auto acquire = [](const char* owner) {
        return command{"EVAL", text_of(scripts::exclusive::acquire), "1", "k", owner, "100000"};
    };
    in_both_protocols({{"FLUSHALL"}, acquire("alice"), acquire("bob")}, mask::times);
}

TEST_F(answers, of_a_handshake_enlist_the_same_life) {
    const auto enlist = [](const char* run, const char* span, const char* max_ttl) {
        return command{"EVAL",        text_of(scripts::enlist),
                       "4",           "r",
                       "l",           "m",
                       "q",           run,
                       "replication", "0",
                       span,          max_ttl};
    };
    in_both_protocols({{"FLUSHALL"},
                       enlist("one", "60000", "50000"),
                       enlist("one", "60000", "50000"),
                       enlist("one", "60000", "40000"),
                       enlist("two", "60000", "50000"),
                       enlist("two", "", "50000"),
                       enlist("two", "0", "50000")},
                      mask::times);
}

// Every field that is read is there, in the section, order and shape of the real one.
TEST_F(answers, of_info_have_the_fields_that_are_read) {
    recorder out;
    script_library scripts;
    server ours(out, scripts, {}, 1);
    const auto here = ours.open();
    ours.receive(here, encoded({{"INFO"}}), wall_clock_now());
    const auto who = servers.connect();
    const auto real = servers.ask_real(who, {"INFO"});
    const auto shape = [](const std::string& value) {
        if (value.size() == 40) return std::string("id");
        const bool number = value.find_first_not_of("-0123456789") == value.npos;
        return number ? std::string("number") : value;
    };
    const auto value_of = [](const std::string& line) { return line.substr(line.find(':') + 1); };
    std::size_t position = 0;
    std::size_t fields = 0;
    std::istringstream lines(out.written[here].substr(out.written[here].find("\r\n") + 2));
    for (std::string line; std::getline(lines, line);) {
        line.pop_back();  // its carriage return
        if (line.empty()) continue;
        const auto name = line.substr(0, std::min(line.find(':'), line.size() - 1) + 1);
        const auto found = real.find("\n" + name, position);
        ASSERT_NE(found, real.npos) << line;
        position = found + 1;
        if (line.starts_with("#")) continue;
        ++fields;
        const auto theirs = real.substr(position, real.find('\r', position) - position);
        EXPECT_EQ(shape(value_of(theirs)), shape(value_of(line))) << name;
    }
    for (const auto* name :
         {"redis_version", "redis_mode", "run_id", "maxmemory", "maxmemory_policy", "aof_enabled",
          "loading", "role", "master_replid", "master_replid2"}) {
        EXPECT_NE(out.written[here].find("\n" + std::string(name) + ":"), std::string::npos)
            << name;
    }
    EXPECT_GE(fields, 18U);
}

TEST(password, is_asked_for_as_by_a_real_server) {
    both_servers servers({"--databases", "1", "--requirepass", "secret", "--user", "bob", "on",
                          ">word", "~*", "&*", "+@all"},
                         {.password = "secret", .users = {{"bob", "word"}}});
    const auto one = servers.connect();
    servers.ask(one,
                {{"GET", "k"},
                 {"PING"},
                 {"GET"},
                 {"HELLO", "3"},
                 {"HELLO", "3", "SETNAME", "x"},
                 {"HELLO", "3", "AUTH", "default", "wrong"},
                 {"AUTH", "wrong"},
                 {"AUTH", "bob", "wrong"},
                 {"GET", "k"},
                 {"HELLO", "3", "AUTH", "default", "secret"},
                 {"GET", "k"}},
                mask::identity);
    const auto two = servers.connect();
    servers.ask(two, {{"AUTH", "secret"}, {"GET", "k"}});
    const auto three = servers.connect();
    servers.ask(three, {{"AUTH", "bob", "word"}, {"GET", "k"}});
    servers.send(servers.connect(), "*11\r\n");
    servers.send(servers.connect(), "*1\r\n$16385\r\n");
}

TEST(malformed_commands, end_a_connection_as_with_a_real_server) {
    both_servers servers(one_database);
    for (const auto* bytes :
         {"*x\r\n", "*1\r\nfoo\r\n", "*1\r\n$-1\r\n", "*1\r\n$x\r\n", "*1\r\n$600000000\r\n",
          "*01\r\n$4\r\nPING\r\n", "*1\r\n$+4\r\nPING\r\n", "*9999999999\r\n",
          "*1\r\n$4\r\nPING\r\n*1\r\n:4\r\nPING\r\n"}) {
        SCOPED_TRACE(bytes);
        servers.send(servers.connect(), bytes);
    }
    for (const auto* bytes : {"*0\r\n", "*-1\r\n", "*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n"}) {
        SCOPED_TRACE(bytes);
        servers.send(servers.connect(), bytes);
    }
}

TEST(sha1, is_that_of_the_build) {
    for (const auto* s :
         {&scripts::exclusive::acquire, &scripts::exclusive::commit, &scripts::exclusive::extend,
          &scripts::exclusive::release, &scripts::enlist, &scripts::exclusive::force,
          &scripts::exclusive::linger}) {
        EXPECT_EQ(sha1(s->text), s->sha1) << s->name;
    }
    EXPECT_EQ(sha1(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    EXPECT_EQ(sha1(std::string(119, 'a')), "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56");
}

}  // namespace
}  // namespace holdfast::sim
