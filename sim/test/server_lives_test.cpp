// How a server's lives begin and end, what it refuses, and what checkers hear of it.

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "scripts/embedded.hpp"
#include "sim/server/refusals.hpp"
#include "sim/test/both_servers.hpp"

namespace holdfast::sim {
namespace {

using condition = server::condition;

constexpr keyspace::wall_time now{1'700'000'000'000'000};
const std::vector<std::string> one_database{"--databases", "1"};

const batch& of_any_kind() {
    static const batch all{
        {"SET", "k", "v"},
        {"GET", "k"},
        {"INCR", "n"},
        {"DEL", "none"},
        {"PEXPIRE", "k", "100000"},
        {"PING"},
        {"SELECT", "0"},
        {"ROLE"},
        {"CLIENT", "SETNAME", "x"},
        {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"},
        {"CLIENT", "CACHING", "YES"},
        {"SCRIPT", "LOAD", std::string(scripts::exclusive::release.text)},
        {"SCRIPT", "EXISTS", std::string(scripts::exclusive::release.sha1)},
        {"EVALSHA", std::string(scripts::exclusive::release.sha1), "1", "k", "nobody"},
        {"EVALSHA", std::string(scripts::exclusive::release.sha1), "1", "k", "v"},
        {"EVAL", std::string(scripts::exclusive::acquire.text), "1", "k", "me", "100000"},
        {"EVAL", "return redis.call('GET', 'k')", "0"},
        {"EVAL", "\nreturn redis.pcall('SET', 'k', 'w')", "0"},
        {"FLUSHALL"},
        {"CONFIG", "GET", "appendonly"},
        {"HSET", "h", "f", "v"},
        {"HLEN", "h"},
        {"RPUSH", "l", "a", "b"},
        {"LPUSH", "l", "c"},
        {"LLEN", "l"},
        {"LPOS", "l", "a"},
        {"LRANGE", "l", "0", "-1"},
        {"LREM", "l", "0", "a"},
        {"LPOP", "l"},
        {"PUBLISH", "c", "x"},
        {"SUBSCRIBE", "c"},
        {"UNSUBSCRIBE", "c"},
        {"EVAL", "return {redis.pcall('PUBLISH', 'c', 'x'), redis.pcall('LPOP', 'l')}", "0"},
        {"GET"},
        {"nothing"},
    };
    return all;
}

// One by one: each answer has its own line in a report.
void compare_all(both_servers& servers, std::size_t who) {
    for (const auto& words : of_any_kind()) servers.ask(who, {words});
    servers.ask(who, {{"HELLO", "3"}, {"HELLO", "2"}}, mask::identity);
}

TEST(refusal, without_memory_is_that_of_a_real_server) {
    both_servers servers(one_database);
    const auto who = servers.connect();
    servers.ask(who, {{"SET", "k", "v"}});
    servers.ask_real(who, {"CONFIG", "SET", "maxmemory", "1"});
    servers.ours().be(condition::out_of_memory);
    compare_all(servers, who);
    servers.ask_real(who, {"CONFIG", "SET", "maxmemory", "0"});
    servers.ours().be(condition::well);
    compare_all(servers, who);
}

TEST(refusal, of_a_replica_is_that_of_a_real_server) {
    both_servers servers(one_database);
    const auto who = servers.connect();
    servers.ask(who, {{"SET", "k", "v"}});
    servers.ask_real(who, {"REPLICAOF", "127.0.0.1", "1"});
    servers.ours().demote();
    compare_all(servers, who);
    servers.ask(who, {{"INFO", "replication"}}, mask::offsets);
    servers.ask_real(who, {"REPLICAOF", "NO", "ONE"});
    servers.ours().promote();
    compare_all(servers, who);
    servers.ask(who, {{"INFO", "replication"}}, mask::offsets);
}

TEST(refusal, while_a_script_does_not_end_is_that_of_a_real_server) {
    both_servers servers({"--databases", "1", "--busy-reply-threshold", "1"});
    const auto who = servers.connect();
    raw_connection stuck(servers.real().socket());
    stuck.send(encoded({{"EVAL", "while true do end", "0"}}));
    while (!servers.ask_real(who, {"PING"}).starts_with("-BUSY")) {
    }
    servers.ours().be(condition::busy);
    compare_all(servers, who);
    servers.ask_real(who, {"SCRIPT", "KILL"});
    stuck.receive_until(".\r\n");
    servers.ours().be(condition::well);
    compare_all(servers, who);
}

TEST(refusal, without_a_disk_is_that_of_a_real_server) {
    both_servers servers({"--databases", "1", "--save", "900 1"}, {.save = "900 1"});
    const auto who = servers.connect();
    servers.ask(who, {{"SET", "k", "v"}});
    servers.real().lose_directory();
    servers.ask_real(who, {"BGSAVE"});
    while (!servers.ask_real(who, {"PING"}).starts_with("-MISCONF")) {
    }
    servers.ours().be(condition::cannot_persist);
    compare_all(servers, who);
}

// Which commands are let through while a server loads, or runs a script, a real one says itself.
TEST(refusal, lets_through_what_a_real_server_lets_through) {
    both_servers servers(one_database);
    const auto who = servers.connect();
    recorder out;
    script_library scripts;
    server ours(out, scripts, {}, 1);
    const auto here = ours.open();
    const auto refuses = [&](const command& words, condition how) {
        ours.be(how);
        out.written.clear();
        ours.receive(here, encoded({words}), now);
        const auto& said = out.written[here];
        return said.starts_with("-LOADING") || said.starts_with("-BUSY");
    };
    for (const auto& words : of_any_kind()) {
        if (words.front() == "nothing" || words.size() == 1) continue;
        const bool group = words[0] == "CLIENT" || words[0] == "SCRIPT" || words[0] == "CONFIG";
        const auto name = group ? words[0] + '|' + words[1] : words[0];
        const auto real = servers.ask_real(who, {"COMMAND", "INFO", name});
        const auto has = [&](const char* flag) { return real.find(flag) != real.npos; };
        EXPECT_EQ(refuses(words, condition::loading), !has("+loading\r\n")) << name;
        EXPECT_EQ(refuses(words, condition::busy), !has("+allow_busy\r\n")) << name;
    }
}

// What the ids of a server say of its life.
struct ids {
    std::string run;
    std::string first;
    std::string second;
};

std::string field(const std::string& info, const std::string& name) {
    const auto at = info.find("\n" + name + ":");
    return at == info.npos ? "" : info.substr(at + name.size() + 2, 40);
}

ids read_ids(const std::string& info) {
    return {field(info, "run_id"), field(info, "master_replid"), field(info, "master_replid2")};
}

std::string difference(const ids& before, const ids& after) {
    std::string text = before.run == after.run ? "same run, " : "another run, ";
    text += before.first == after.first ? "same id, " : "new id, ";
    if (after.second == std::string(40, '0')) return text + "no second one";
    return text + (after.second == before.first ? "second is the former" : "another second one");
}

class lives : public testing::Test {
  protected:
    ids of_real() { return read_ids(servers.ask_real(who, {"INFO", "everything"})); }
    ids of_ours() {
        const auto& l = servers.ours().present_life();
        return {l.run_id(), l.replication_id(), l.second_replication_id()};
    }
    // The same is done to both; returns what it did to their ids, if that was the same.
    template <typename Real, typename Ours>
    std::string change(Real real, Ours ours) {
        const auto real_before = of_real();
        const auto ours_before = of_ours();
        real();
        ours();
        const auto did = difference(ours_before, of_ours());
        EXPECT_EQ(difference(real_before, of_real()), did);
        return did;
    }

    both_servers servers{one_database};
    const std::size_t who = servers.connect();
};

TEST_F(lives, change_their_ids_as_those_of_a_real_server) {
    const auto replica = std::make_unique<raw_connection>(servers.real().socket());
    EXPECT_EQ(change(
                  [&] {
                      replica->send(encoded({{"PSYNC", "?", "-1"}}));
                      replica->receive_until("\r\n");
                  },
                  [&] { servers.ours().attach_replica(); }),
              "same run, new id, no second one");
    EXPECT_EQ(change(
                  [&] {
                      servers.ask_real(who, {"REPLICAOF", "127.0.0.1", "1"});
                  },
                  [&] { servers.ours().demote(); }),
              "same run, same id, no second one");
    EXPECT_EQ(change(
                  [&] {
                      servers.ask_real(who, {"REPLICAOF", "NO", "ONE"});
                  },
                  [&] { servers.ours().promote(); }),
              "same run, new id, second is the former");
}

struct lonely_server {
    recorder out;
    script_library scripts;
    server subject{out, scripts, {}, 1};
    server::connection here = subject.open();

    std::string ask(const command& words) {
        out.written[here].clear();
        subject.receive(here, encoded({words}), now);
        return out.written[here];
    }
    std::string written() { return std::exchange(out.written[here], {}); }
    ids present() {
        const auto& l = subject.present_life();
        return {l.run_id(), l.replication_id(), l.second_replication_id()};
    }
    void write_in_three_moments() {
        subject.data().keep_history(true);
        for (const auto moment : {1, 2, 3}) {
            subject.data().stamp(moment);
            ask({"SET", "k", std::to_string(moment)});
        }
    }
};

TEST(life, ends_with_a_crash_that_leaves_as_much_as_it_is_told) {
    for (const auto& [left, value] : {std::pair{server::memory::full, "$1\r\n3\r\n"},
                                      std::pair{server::memory::partial, "$1\r\n2\r\n"},
                                      std::pair{server::memory::none, "$-1\r\n"}}) {
        lonely_server one;
        one.write_in_three_moments();
        one.ask({"SCRIPT", "LOAD", std::string(scripts::exclusive::release.text)});
        const auto before = one.present();
        one.subject.crash(left, 2);
        EXPECT_FALSE(one.subject.up());
        EXPECT_EQ(one.ask({"PING"}), "") << "its connections are gone";
        one.subject.restart();
        EXPECT_EQ(difference(before, one.present()), "another run, new id, no second one");
        one.here = one.subject.open();
        EXPECT_EQ(one.ask({"GET", "k"}), value);
        const auto evalsha =
            command{"EVALSHA", std::string(scripts::exclusive::release.sha1), "1", "k", "x"};
        EXPECT_TRUE(one.ask(evalsha).starts_with("-NOSCRIPT"));
    }
}

TEST(life, ends_with_as_much_of_a_list_as_of_a_string) {
    using list = std::vector<std::string>;
    const std::vector<std::pair<server::memory, list>> cases{{server::memory::full, {"2", "3"}},
                                                             {server::memory::partial, {"1", "2"}},
                                                             {server::memory::none, {}}};
    for (const auto& [left, items] : cases) {
        lonely_server one;
        one.subject.data().keep_history(true);
        for (const auto moment : {1, 2, 3}) {
            one.subject.data().stamp(moment);
            one.ask({"RPUSH", "l", std::to_string(moment)});
        }
        one.ask({"LPOP", "l"});
        one.subject.crash(left, 2);
        one.subject.restart();
        const auto* found = one.subject.data().peek("l", now);
        EXPECT_EQ(found ? found->items : list{}, items);
    }
}

TEST(life, as_a_replica_for_a_moment_loses_the_last_of_a_list) {
    lonely_server one;
    one.subject.data().keep_history(true);
    one.subject.data().stamp(1);
    one.ask({"RPUSH", "l", "a"});
    one.subject.data().stamp(2);
    one.ask({"LPOP", "l"});
    one.subject.demote();
    one.subject.resynchronise_in_full(1);
    one.subject.promote();
    EXPECT_EQ(one.ask({"LPOP", "l"}), "$1\r\na\r\n");
}

TEST(life, ends_with_all_subscriptions) {
    lonely_server one;
    one.ask({"HELLO", "3"});
    one.ask({"SUBSCRIBE", "c"});
    EXPECT_TRUE(one.ask({"PUBLISH", "c", "x"}).ends_with(":1\r\n"));
    one.subject.crash(server::memory::full);
    one.subject.restart();
    one.here = one.subject.open();
    EXPECT_EQ(one.ask({"PUBLISH", "c", "x"}), ":0\r\n");
}

// As long as nobody has told the server, whoever is gone is a receiver.
TEST(life, of_a_connection_ends_with_its_subscriptions) {
    lonely_server one;
    const auto gone = one.subject.open();
    one.subject.receive(gone, encoded({{"HELLO", "3"}, {"SUBSCRIBE", "c", "d"}}), now);
    EXPECT_EQ(one.ask({"PUBLISH", "c", "x"}), ":1\r\n");
    one.subject.close(gone);
    EXPECT_EQ(one.ask({"PUBLISH", "c", "x"}), ":0\r\n");
    EXPECT_EQ(one.ask({"PUBLISH", "d", "x"}), ":0\r\n");
}

TEST(life, as_a_replica_keeps_subscriptions) {
    lonely_server one;
    one.ask({"HELLO", "3"});
    one.ask({"SUBSCRIBE", "c"});
    one.subject.demote();
    one.subject.resynchronise_in_full(0);
    one.subject.promote();
    EXPECT_TRUE(one.ask({"PUBLISH", "c", "x"}).ends_with(":1\r\n"));
}

TEST(life, may_begin_with_other_settings) {
    lonely_server one;
    one.subject.crash(server::memory::full);
    one.subject.restart({.eviction_policy = "allkeys-lru", .append_only = true});
    one.here = one.subject.open();
    const auto info = one.ask({"INFO"});
    EXPECT_NE(info.find("maxmemory_policy:allkeys-lru\r\n"), info.npos);
    EXPECT_NE(info.find("aof_enabled:1\r\n"), info.npos);
    EXPECT_NE(one.ask({"CONFIG", "GET", "appendonly"}).find("yes"), info.npos);
}

TEST(life, as_a_replica_for_a_moment_loses_data_and_keeps_connections) {
    lonely_server one;
    one.ask({"HELLO", "3"});
    one.ask({"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"});
    one.write_in_three_moments();
    const auto before = one.present();
    one.subject.demote();
    EXPECT_TRUE(one.ask({"SET", "k", "v"}).starts_with("-READONLY"));
    EXPECT_NE(one.ask({"INFO", "replication"}).find("role:slave"), std::string::npos);
    one.written();
    one.subject.resynchronise_in_full(1);
    EXPECT_EQ(one.written(), ">2\r\n$10\r\ninvalidate\r\n_\r\n");
    EXPECT_EQ(difference(before, one.present()), "same run, new id, no second one");
    const auto as_replica = one.present();
    one.subject.promote();
    EXPECT_EQ(difference(as_replica, one.present()), "same run, new id, second is the former");
    EXPECT_EQ(one.ask({"GET", "k"}), "$1\r\n1\r\n");
    EXPECT_EQ(one.ask({"SET", "k", "v"}), "+OK\r\n");
}

TEST(life, in_step_by_what_was_missing_tells_nobody) {
    lonely_server one;
    one.ask({"HELLO", "3"});
    one.ask({"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"});
    one.written();
    const auto before = one.present();
    one.subject.demote();
    one.subject.resynchronise_in_part();
    EXPECT_EQ(one.written(), "");
    EXPECT_EQ(difference(before, one.present()), "same run, new id, second is the former");
}

const batch& a_connection() {
    static const batch all{
        {"HELLO", "3"},
        {"CLIENT", "SETNAME", "x"},
        {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"},
        {"INFO"},
        {"SCRIPT", "LOAD", std::string(scripts::exclusive::acquire.text)},
        {"EVAL", std::string(scripts::enlist.text), "4", "r", "l", "m", "q", "run", "id", "1", "",
         "9"},
        {"EVALSHA", std::string(scripts::exclusive::acquire.sha1), "1", "k", "me", "1000"},
        {"INFO", "replication"},
        {"TIME"}};
    return all;
}

TEST(refusal, may_hit_any_command_of_a_connection) {
    for (std::uint32_t hit = 0; hit < a_connection().size(); ++hit) {
        lonely_server one;
        one.subject.refuse([&](const asked_command& asked) {
            return asked.position == hit ? refusals::out_of_memory : std::string_view{};
        });
        for (std::uint32_t i = 0; i < a_connection().size(); ++i) {
            const auto said = one.ask(a_connection()[i]);
            EXPECT_EQ(said.starts_with("-OOM"), i == hit) << i;
        }
    }
}

TEST(refusal, knows_the_handshake_from_what_follows_it) {
    lonely_server one;
    std::vector<bool> in_handshake;
    std::vector<std::string> names;
    one.subject.refuse([&](const asked_command& asked) {
        in_handshake.push_back(asked.in_handshake);
        names.emplace_back(asked.name);
        return std::string_view{};
    });
    for (const auto& words : a_connection()) one.ask(words);
    EXPECT_EQ(in_handshake,
              (std::vector<bool>{true, true, true, true, true, true, false, false, false}));
    EXPECT_EQ(names[2], "client|tracking");
    one.here = one.subject.open();
    one.ask({"EVAL", std::string(scripts::exclusive::linger.text), "1", "k", "me", "1000"});
    EXPECT_FALSE(in_handshake.back());
}

class notes final : public server_listener {
  public:
    void executed(const execution& what) override {
        const auto text = [](const std::string* owner) { return owner ? *owner : "nobody"; };
        std::string line(what.name);
        for (const auto key : what.keys) (line += ' ') += key;
        line += " |";
        for (const auto word : what.arguments) (line += ' ') += word;
        all.push_back(line + " | " + text(what.before) + " -> " + text(what.after) + " | " +
                      std::string(what.answer.substr(0, what.answer.find('\r'))));
    }
    std::vector<std::string> all;
};

TEST(listener, hears_what_ran_and_whose_the_lock_was) {
    lonely_server one;
    notes heard;
    one.subject.listen(&heard);
    const std::string release(scripts::exclusive::release.text);
    one.ask({"SET", "k", "alice", "NX", "PX", "1000"});
    one.ask({"EVAL", release, "1", "k", "bob"});
    one.ask({"EVAL", release, "1", "k", "alice"});
    one.ask({"EVALSHA", std::string(40, '0'), "1", "k"});
    one.subject.be(condition::loading);
    one.ask({"SET", "k", "refused"});
    EXPECT_EQ(heard.all,
              (std::vector<std::string>{"set k | alice NX PX 1000 | nobody -> alice | +OK",
                                        "release k | bob | alice -> alice | :0",
                                        "release k | alice | alice -> nobody | :1",
                                        "evalsha k | | nobody -> nobody | -NOSCRIPT No matching "
                                        "script. Please use EVAL."}));
}

}  // namespace
}  // namespace holdfast::sim
