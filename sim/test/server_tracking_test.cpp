// Who is told what of which key, and when: as by a real server.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <thread>

#include "scripts/embedded.hpp"
#include "sim/test/both_servers.hpp"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> options{"--databases", "1", "--enable-debug-command", "yes"};
const command track{"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"};
const command heed{"CLIENT", "CACHING", "YES"};

command script(std::string text, command rest) {
    command words{"EVAL", std::move(text)};
    words.insert(words.end(), rest.begin(), rest.end());
    return words;
}

class told : public testing::Test {
  protected:
    told() {
        for (const auto who : {waiter, other}) {
            servers.ask(who, {{"HELLO", "3"}}, mask::identity);
            servers.ask(who, {track});
        }
    }

    both_servers servers{options};
    const std::size_t waiter = servers.connect();
    const std::size_t other = servers.connect();
    const std::size_t stranger = servers.connect();  // RESP2, no tracking
};

TEST_F(told, is_who_has_read_the_key_and_asked_to_be) {
    servers.ask(stranger, {{"SET", "k", "v"}});
    servers.ask(waiter, {heed, {"GET", "k"}});
    servers.ask(stranger, {{"SET", "k", "w"}});
    servers.ask(stranger, {{"SET", "k", "once is enough"}});
    servers.ask(waiter, {{"GET", "k"}});
    servers.ask(stranger, {{"DEL", "k"}});
    servers.ask(waiter, {heed, {"GET", "k"}});
    servers.ask(stranger, {{"INCR", "k"}});
    servers.ask(waiter, {heed, {"MGET", "k", "none"}});
    servers.ask(stranger, {{"PEXPIRE", "k", "100000"}, {"SET", "none", "x", "XX"}});
    servers.ask(stranger, {{"SET", "none", "x", "NX"}, {"PEXPIRE", "k", "0"}});
}

TEST_F(told, is_who_read_with_the_next_command_and_no_later_one) {
    servers.ask(waiter, {heed, {"PING"}, {"GET", "k"}});
    servers.ask(stranger, {{"SET", "k", "1"}});
    servers.ask(waiter, {heed, {"nothing"}, {"GET", "k"}});
    servers.ask(stranger, {{"SET", "k", "2"}});
    servers.ask(waiter, {heed, {"CLIENT", "GETNAME"}, {"CLIENT", "SETNAME"}, {"GET", "k"}});
    servers.ask(stranger, {{"SET", "k", "3"}});
    servers.ask(waiter, {heed, {"CLIENT", "nothing"}, {"GET", "k"}});
    servers.ask(stranger, {{"SET", "k", "3"}});
    servers.ask(waiter, {heed, {"CLIENT"}, {"GET", "k"}});
    servers.ask(stranger, {{"SET", "k", "3"}});
    servers.ask(waiter, {heed, {"GET"}, {"GET", "k"}});
    servers.ask(stranger, {{"SET", "k", "4"}});
    servers.ask(waiter, {heed, {"SET", "k", "5", "NX", "GET"}});
    servers.ask(stranger, {{"SET", "k", "6"}});
}

TEST_F(told, is_everybody_but_who_changed_it) {
    servers.ask(stranger, {{"SET", "k", "v"}});
    servers.ask(waiter, {heed, {"GET", "k"}});
    servers.ask(other, {heed, {"GET", "k"}});
    servers.ask(other, {{"DEL", "k"}});
    servers.ask(waiter, {{"SET", "k", "v"}});
    servers.ask(other, {heed, {"GET", "k"}, {"SET", "k", "w"}});
    servers.ask(waiter, {{"SET", "k", "nobody remembers it any more"}});
}

TEST_F(told, of_its_own_change_after_the_answer_without_noloop) {
    servers.ask(waiter, {{"CLIENT", "TRACKING", "ON", "OPTIN"}, heed, {"MGET", "a", "b"}});
    servers.ask(
        waiter,
        {script("redis.call('SET', 'a', 1) redis.call('SET', 'b', 1) return 5", {"0"}), {"PING"}});
}

TEST_F(told, that_everything_is_gone_is_everybody_ahead_of_later_answers) {
    servers.ask(waiter, {heed, {"GET", "k"}});
    servers.ask(stranger, {{"FLUSHALL"}});
    servers.ask(stranger, {{"SET", "k", "forgotten"}});
    servers.ask(waiter, {{"PING"}, {"FLUSHDB"}, {"PING"}});
    servers.ask(other,
                {script("redis.call('SET', 'k', 1) redis.call('FLUSHALL') return 5", {"0"})});
    servers.ask(waiter, {heed, {"GET", "k"}});
    servers.ask(other,
                {script("redis.call('SET', 'k', 1) redis.call('FLUSHALL') return 5", {"0"})});
}

TEST_F(told, is_nobody_in_the_older_protocol) {
    servers.ask(stranger, {track, heed, {"GET", "k"}});
    servers.ask(waiter, {{"SET", "k", "1"}, {"FLUSHALL"}});
    servers.ask(waiter, {heed, {"GET", "k"}, {"HELLO", "2"}}, mask::identity);
    servers.ask(other, {{"SET", "k", "2"}, {"FLUSHALL"}});
    servers.ask(waiter, {{"HELLO", "3"}}, mask::identity);
    servers.ask(other, {{"SET", "k", "3"}});
}

TEST_F(told, is_who_has_switched_it_off_and_on_again) {
    servers.ask(waiter, {heed, {"GET", "k"}, {"CLIENT", "TRACKING", "OFF"}});
    servers.ask(waiter, {track});
    servers.ask(stranger, {{"SET", "k", "1"}});
    servers.ask(waiter, {heed, {"GET", "k"}, {"CLIENT", "TRACKING", "OFF"}});
    servers.ask(stranger, {{"SET", "k", "2"}, {"FLUSHALL"}});
}

TEST_F(told, of_the_keys_of_a_script_that_reads) {
    const std::string reads =
        "redis.call('GET', KEYS[1]) redis.call('EXISTS', 'undeclared') return 1";
    servers.ask(waiter, {heed, script(reads, {"2", "k", "f"})});
    servers.ask(stranger, {{"SET", "undeclared", "1"}, {"SET", "f", "1"}, {"SET", "k", "1"}});
    servers.ask(waiter, {heed, script("return redis.call('SET', KEYS[1], 1)", {"1", "k"})});
    servers.ask(stranger, {{"SET", "k", "2"}});
    servers.ask(waiter, {script(reads, {"1", "k"})});
    servers.ask(stranger, {{"SET", "k", "3"}});
}

// Tried on Redis 8.0 and Valkey 9.1.
TEST(told_by_later_servers, is_who_read_by_a_script_of_the_keys_that_it_read) {
    recorder out;
    script_library scripts;
    server later(out, scripts, {.tracks = server_settings::script_tracking::read_keys}, 1);
    const auto waiter = later.open();
    const auto other = later.open();
    const std::string reads = "redis.call('GET', 'g') redis.call('EXISTS', 'q') return 1";
    later.receive(waiter, encoded({{"HELLO", "3"}, track, heed, script(reads, {"1", "k"})}), 1s);
    out.written.clear();
    later.receive(other, encoded({{"SET", "k", "1"}, {"SET", "q", "1"}, {"SET", "g", "1"}}), 1s);
    EXPECT_EQ(out.written[waiter],
              ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nq\r\n"
              ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\ng\r\n");
}

TEST_F(told, is_who_was_denied_when_the_lock_is_released) {
    const std::string acquire(scripts::exclusive::acquire.text);
    const auto asks = [&](const char* owner) {
        return script(acquire,
                      {"2", "k", "f", owner, "100000", "3600000", "1", "4000000000000000"});
    };
    servers.ask(other, {asks("bob")});
    servers.ask(waiter, {asks("alice")}, mask::times);
    servers.ask(waiter, {heed, asks("alice")}, mask::times);
    servers.ask(other, {script(std::string(scripts::exclusive::release.text), {"1", "k", "bob"})});
    servers.ask(waiter, {heed, asks("alice")});
    servers.ask(other, {heed, asks("bob")}, mask::times);
    servers.ask(stranger, {script(std::string(scripts::exclusive::extend.text),
                                  {"2", "k", "f", "alice", "200000", "3600000"})});
}

// As long as nobody looks, nothing has expired: the servers' own search is switched off.
TEST_F(told, of_an_expiry_is_everybody_but_who_found_it) {
    servers.ask_real(stranger, {"DEBUG", "SET-ACTIVE-EXPIRE", "0"});
    const auto let_expire = [&] {
        servers.ask(stranger, {{"SET", "k", "v", "PX", "50"}});
        servers.ask(waiter, {heed, {"GET", "k"}});
        servers.ask(other, {heed, {"GET", "k"}});
        std::this_thread::sleep_for(60ms);
        servers.compare();
    };
    let_expire();
    servers.ask(stranger, {{"GET", "k"}});
    let_expire();
    servers.ask(waiter, {{"GET", "k"}});
    let_expire();
    servers.ask(other, {script("return redis.call('SET', 'k', 'w', 'NX')", {"0"})});
}

TEST_F(told, of_an_expiry_that_nobody_looked_for) {
    servers.ask(stranger, {{"SET", "k", "v", "PX", "20"}});
    servers.ask(waiter, {heed, {"PTTL", "none"}});
    servers.ask(waiter, {heed, {"EXISTS", "k"}});
    std::this_thread::sleep_for(500ms);  // a real server looks ten times a second
    servers.ours().expire(wall_clock_now());
    servers.compare();
}

TEST_F(told, the_connection_that_is_killed_nothing_but_its_end) {
    const auto victim = servers.connect();
    servers.ask(victim, {{"HELLO", "3"}}, mask::identity);
    servers.ask(victim, {track, heed, {"GET", "k"}});
    const auto number = servers.ask_real(victim, {"CLIENT", "ID"});
    servers.ask_real(stranger, {"CLIENT", "KILL", "ID", number.substr(1, number.find('\r') - 1)});
    servers.ours().kill(servers.number_of(victim));
    servers.compare();
    servers.ask(stranger, {{"SET", "k", "1"}, {"FLUSHALL"}});
}

rc::Gen<command> any_step() {
    const std::string reads = "redis.call('GET', KEYS[1]) return redis.call('PTTL', KEYS[1])";
    const std::string moves =
        "local v = redis.call('GET', KEYS[1]) redis.call('SET', KEYS[2], v or 'none') "
        "redis.call('DEL', KEYS[1]) return {v, redis.call('EXISTS', KEYS[1], KEYS[2])}";
    return rc::gen::elementOf(batch{heed,
                                    heed,
                                    heed,
                                    heed,
                                    track,
                                    {"CLIENT", "TRACKING", "ON", "OPTIN"},
                                    {"CLIENT", "TRACKING", "ON"},
                                    {"CLIENT", "TRACKING", "OFF"},
                                    {"GET", "a"},
                                    {"GET", "b"},
                                    {"MGET", "a", "b", "c"},
                                    {"EXISTS", "c", "a"},
                                    {"SET", "a", "1"},
                                    {"SET", "b", "2", "NX"},
                                    {"SET", "a", "x", "XX", "GET"},
                                    {"INCR", "c"},
                                    {"DEL", "a", "b"},
                                    {"HSET", "b", "f", "v"},
                                    {"HMGET", "b", "f"},
                                    {"TYPE", "b"},
                                    {"RPUSH", "c", "x", "y"},
                                    {"LPOP", "c"},
                                    {"LREM", "c", "0", "y"},
                                    {"LLEN", "c"},
                                    {"LPOS", "b", "x"},
                                    {"PEXPIRE", "c", "0"},
                                    {"FLUSHALL"},
                                    script(reads, {"1", "a"}),
                                    script(reads, {"2", "a", "b"}),
                                    script(moves, {"2", "a", "b"}),
                                    script(moves, {"2", "b", "c"}),
                                    {"PING"},
                                    {"nothing"}});
}

TEST(tracking, tells_the_same_as_a_real_server_whatever_happens) {
    both_servers servers(options);
    std::vector<std::size_t> all{servers.connect(), servers.connect(), servers.connect()};
    const auto claim = [&] {
        for (const auto who : all) {
            servers.ask(who, {{"HELLO", who == 0 ? "2" : "3"}, {"CLIENT", "TRACKING", "OFF"}},
                        mask::identity);
        }
        servers.ask(all[0], {{"FLUSHALL"}});
        const auto steps =
            *rc::gen::container<std::vector<std::pair<std::size_t, batch>>>(rc::gen::pair(
                rc::gen::inRange<std::size_t>(0, 3),
                rc::gen::nonEmpty(rc::gen::resize(4, rc::gen::container<batch>(any_step())))));
        for (const auto& [who, commands] : steps) servers.ask(who, commands);
        RC_ASSERT(!testing::Test::HasFailure());
    };
    EXPECT_TRUE(rc::check("three connections, any commands", claim));
}

}  // namespace
}  // namespace holdfast::sim
