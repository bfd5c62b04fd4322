// Channels, as a real server has them: who receives what, and where it stands among the answers.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "sim/server/refusals.hpp"
#include "sim/test/both_servers.hpp"

namespace holdfast::sim {
namespace {

const std::vector<std::string> one_database{"--databases", "1"};
const command track{"CLIENT", "TRACKING", "ON", "OPTIN"};
const command heed{"CLIENT", "CACHING", "YES"};

command script(std::string text) { return {"EVAL", std::move(text), "0"}; }

const std::string writes_and_publishes =
    "redis.call('SET', 'k', 1) local n = redis.call('PUBLISH', 'c', 'one') "
    "redis.call('RPUSH', 'l', 1) redis.call('PUBLISH', 'c', 'two') return n";

class channels : public testing::Test {
  protected:
    channels() {
        for (const auto who : {first, second}) servers.ask(who, {{"HELLO", "3"}}, mask::identity);
    }

    both_servers servers{one_database};
    const std::size_t first = servers.connect();
    const std::size_t second = servers.connect();
    const std::size_t older = servers.connect();  // RESP2
};

TEST_F(channels, confirm_who_comes_and_goes) {
    for (const auto who : {first, older}) {
        servers.ask(who, {{"SUBSCRIBE", "a", "b", "a"}});
        servers.ask(who, {{"subscribe", "c"}, {"UNSUBSCRIBE", "b", "none"}});
        servers.ask(who, {{"UNSUBSCRIBE", "a"}, {"PING"}, {"UNSUBSCRIBE"}});
        servers.ask(who, {{"UNSUBSCRIBE"}, {"UNSUBSCRIBE", "a"}, {"PING"}, {"SUBSCRIBE"}});
    }
}

TEST_F(channels, carry_a_message_to_everybody_who_listens) {
    servers.ask(second, {{"PUBLISH", "c", "nobody"}});
    servers.ask(first, {{"SUBSCRIBE", "c", "d"}});
    servers.ask(older, {{"SUBSCRIBE", "c"}});
    servers.ask(second,
                {{"PUBLISH", "c", "one\r\nmore"}, {"PUBLISH", "d", ""}, {"PUBLISH", "e", "x"}});
    servers.ask(first, {{"UNSUBSCRIBE", "c"}, {"GET", "k"}});
    servers.ask(second, {{"PUBLISH", "c", "one"}, {"PUBLISH", "d", "two"}});
    servers.ask(second, {{"PUBLISH", "c"}, {"PUBLISH", "c", "d", "e"}});
}

TEST_F(channels, leave_room_for_nothing_else_in_the_older_protocol) {
    servers.ask(older, {{"SUBSCRIBE", "c"}});
    for (const auto& words : batch{{"GET", "k"},
                                   {"SET", "k", "v"},
                                   {"GET"},
                                   {"nothing"},
                                   {"PING"},
                                   {"PING", "word"},
                                   {"PUBLISH", "c", "x"},
                                   {"HELLO", "3"},
                                   {"CLIENT", "GETNAME"},
                                   script("return 1"),
                                   {"SUBSCRIBE", "d"},
                                   {"UNSUBSCRIBE", "c"},
                                   {"GET", "k"},
                                   {"UNSUBSCRIBE", "d"},
                                   {"GET", "k"}}) {
        servers.ask(older, {words});
    }
    servers.ask(first, {{"SUBSCRIBE", "c"}, {"HELLO", "2"}}, mask::identity);
    servers.ask(first, {{"GET", "k"}, {"PING"}});
    servers.ask(second, {{"PUBLISH", "c", "in the protocol of the day"}});
}

TEST_F(channels, bring_its_own_message_to_a_sender_ahead_of_the_answer) {
    servers.ask(first, {{"SUBSCRIBE", "c"}});
    servers.ask(first, {{"PING"}, {"PUBLISH", "c", "mine"}, {"PING"}});
    servers.ask(first, {script(writes_and_publishes), {"PING"}});
}

TEST_F(channels, stand_in_the_order_of_things_beside_what_is_told_of_keys) {
    for (const auto who : {first, second}) {
        servers.ask(who, {{"SUBSCRIBE", "c"}, track});
        servers.ask(who, {heed, {"MGET", "k", "l"}});
    }
    servers.ask(first, {script(writes_and_publishes), {"PING"}});
    for (const auto who : {first, second}) servers.ask(who, {heed, {"MGET", "k", "l"}});
    servers.ask(older, {script("redis.call('PUBLISH', 'c', 'x') redis.call('FLUSHALL') "
                               "return redis.call('PUBLISH', 'c', 'y')")});
    servers.ask(first, {script("redis.call('PUBLISH', 'c', 'x') redis.call('FLUSHALL') "
                               "return redis.call('PUBLISH', 'c', 'y')")});
}

// Tried on Redis 8.0.2 and Valkey 8.1.1.
TEST(channels_of_later_servers, bring_its_own_message_to_a_sender_behind_the_answer) {
    recorder out;
    script_library scripts;
    server later(out, scripts, {.tracks = server_settings::script_tracking::read_keys}, 1);
    const auto here = later.open();
    const keyspace::wall_time now{1'000'000};
    later.receive(here, encoded({{"HELLO", "3"}, {"SUBSCRIBE", "c"}, track}), now);
    later.receive(here, encoded({heed, {"MGET", "k", "l"}}), now);
    out.written.clear();
    later.receive(here, encoded({script(writes_and_publishes), {"PUBLISH", "c", "x"}}), now);
    EXPECT_EQ(out.written[here],
              ":1\r\n"
              ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$3\r\none\r\n"
              ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$3\r\ntwo\r\n"
              ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"
              ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nl\r\n"
              ":1\r\n"
              ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n");
}

TEST_F(channels, are_there_for_scripts_to_publish_only) {
    servers.ask(first, {{"SUBSCRIBE", "c"}});
    for (const auto& words : batch{
             script("return {redis.call('PUBLISH', 'c', 1.5), 'x'}"),
             script("return redis.pcall('publish', 'none', 'x')"),
             script("return redis.pcall('PUBLISH', 'c')"), script("return redis.call('PUBLISH')"),
             script("return redis.pcall('SUBSCRIBE', 'c')"),
             script("return redis.call('SUBSCRIBE', 'c')"),
             script("return redis.pcall('SUBSCRIBE')"), script("return redis.pcall('UNSUBSCRIBE')"),
             script("redis.call('PUBLISH', 'c', 'x') error('late')")}) {
        servers.ask(second, {words});
    }
}

TEST_F(channels, lose_who_is_gone) {
    const auto number = servers.ask_real(first, {"CLIENT", "ID"});
    const auto id = number.substr(1, number.find('\r') - 1);
    servers.ask(first, {{"SUBSCRIBE", "c"}});
    servers.ask(second, {{"SUBSCRIBE", "c"}, {"PUBLISH", "c", "both"}});
    servers.ask_real(older, {"CLIENT", "KILL", "ID", id});
    servers.ours().kill(servers.number_of(first));
    servers.compare();
    servers.ask(second, {{"PUBLISH", "c", "one"}});
}

TEST_F(channels, go_on_without_memory_and_on_a_replica) {
    const batch commands{{"SUBSCRIBE", "c"},
                         {"PUBLISH", "c", "x"},
                         script("return redis.call('PUBLISH', 'c', 'x')"),
                         {"UNSUBSCRIBE", "c"}};
    servers.ask_real(second, {"CONFIG", "SET", "maxmemory", "1"});
    servers.ours().be(server::condition::out_of_memory);
    for (const auto& words : commands) servers.ask(first, {words});
    servers.ask(older, {{"SUBSCRIBE", "c"}, {"SET", "k", "v"}, {"GET", "k"}});
    servers.ask_real(second, {"CONFIG", "SET", "maxmemory", "0"});
    servers.ours().be(server::condition::well);
    servers.ask_real(second, {"REPLICAOF", "127.0.0.1", "1"});
    servers.ours().demote();
    for (const auto& words : commands) servers.ask(first, {words});
    servers.ask(older, {{"SET", "k", "v"}, {"GET", "k"}});
}

TEST_F(channels, without_the_right_to_them_are_refused_by_an_answer_and_not_a_push) {
    servers.ask_real(older, {"ACL", "SETUSER", "default", "-publish", "-subscribe"});
    std::string why;
    const auto forbidden = [](const asked_command& asked) {
        return asked.name == "publish" || asked.name == "subscribe";
    };
    servers.ours().refuse([&](const asked_command& asked) {
        why = "NOPERM this user has no permissions to run the '" + std::string(asked.name) +
              "' command";
        return forbidden(asked) ? std::string_view(why) : std::string_view{};
    });
    servers.ours().refuse_in_scripts([&](const asked_command& asked) {
        return forbidden(asked) ? refusals::not_permitted_in_script : std::string_view{};
    });
    for (const auto& words : batch{{"SUBSCRIBE", "c"},
                                   {"PUBLISH", "c", "x"},
                                   {"UNSUBSCRIBE"},
                                   script("return redis.pcall('PUBLISH', 'c', 'x').err"),
                                   script("return redis.call('PUBLISH', 'c', 'x')"),
                                   script("return redis.pcall('PUBLISH', 'c')"),
                                   script("return redis.pcall('SUBSCRIBE', 'c')")}) {
        servers.ask(first, {words});
    }
}

rc::Gen<command> any_step() {
    return rc::gen::elementOf(batch{heed,
                                    heed,
                                    track,
                                    {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"},
                                    {"SUBSCRIBE", "c"},
                                    {"SUBSCRIBE", "c", "d"},
                                    {"UNSUBSCRIBE", "c"},
                                    {"UNSUBSCRIBE", "d", "c"},
                                    {"PUBLISH", "c", "x"},
                                    {"PUBLISH", "d", "y"},
                                    {"MGET", "k", "l"},
                                    {"LLEN", "l"},
                                    {"SET", "k", "1"},
                                    {"RPUSH", "l", "a", "b"},
                                    {"LPOP", "l"},
                                    {"LREM", "l", "0", "a"},
                                    {"FLUSHALL"},
                                    {"PING"},
                                    {"nothing"},
                                    {"EVAL", writes_and_publishes, "2", "k", "l"},
                                    script("redis.call('LLEN', 'l') redis.call('DEL', 'l') "
                                           "return redis.pcall('PUBLISH', 'd', 'gone')")});
}

TEST(messages, are_those_of_a_real_server_whatever_happens) {
    both_servers servers(one_database);
    std::vector<std::size_t> all{servers.connect(), servers.connect(), servers.connect()};
    const auto claim = [&] {
        for (const auto who : all) {
            servers.ask(who, {{"UNSUBSCRIBE", "c", "d"}});
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
