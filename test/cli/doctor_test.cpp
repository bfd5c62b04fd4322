#include <filesystem>
#include <map>
#include <sstream>

#include "integration/server_kinds.hpp"
#include "tool.hpp"

namespace holdfast::test {
namespace {

class doctor : public tool_test {
  protected:
    /// The verdict of each check.
    std::map<std::string, std::string> verdicts(const words& more = {}) const {
        words arguments{"doctor", "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        std::map<std::string, std::string> result;
        std::istringstream lines(holdfast(arguments).out);
        for (std::string line; std::getline(lines, line);) {
            const auto finding = json_of(line + "\n");
            EXPECT_EQ(finding.size(), 5U);
            result[finding.at("check").as_string().c_str()] =
                finding.at("verdict").as_string().c_str();
        }
        return result;
    }

    /// What one check says must be done.
    std::string fix_for(const std::string& check, const words& more = {},
                        const command_options& how = {}) const {
        words arguments{"doctor", "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        std::istringstream lines(holdfast(arguments, how).out);
        for (std::string line; std::getline(lines, line);) {
            const auto finding = json_of(line + "\n");
            if (finding.at("check").as_string() == check)
                return finding.at("fix").as_string().c_str();
        }
        return {};
    }

    /// No lock can be taken: the verdict on the lock says why, and what to change.
    void expect_no_lock(const std::string& answer, const std::string& fix) const {
        const auto result = holdfast({"doctor"});
        EXPECT_EQ(result.exit_code, 69) << result.out << result.err;
        EXPECT_NE(result.out.find("FAIL  lock"), std::string::npos) << result.out << result.err;
        EXPECT_NE(result.out.find(answer), std::string::npos) << result.out;
        EXPECT_NE(result.out.find(fix), std::string::npos) << result.out;
        EXPECT_EQ(holdfast({"run", "-n", "k", "--", "true"}).exit_code, 69) << "as for a lock";
    }

    std::string guarded(const std::string& more = {}) const {
        return server_.url() + "?restart_guard=on" + more;
    }

    /// The rules in its advice about rights.
    words advised(const words& more, const std::string& check = "rights") const {
        std::istringstream advice(fix_for(check, more, with_a_password()));
        words rules;
        for (std::string word; advice >> word;) {
            std::erase(word, '\'');
            if (std::string("+~&").find(word.front()) != std::string::npos) rules.push_back(word);
        }
        return rules;
    }

    /// A guest may do this and nothing else.
    void allow(const words& rules) const {
        words command{"ACL", "SETUSER", "guest", "reset", "on", "nopass", "resetkeys", "-@all"};
        command.insert(command.end(), rules.begin(), rules.end());
        server_.command(command);
    }

    /// With these rules a guest can run a command for longer than the ttl, and leaves no lock. An
    /// operator has vouched for the server, which has no scripts, nor keys beside its record.
    bool can_run(const std::string& url, const words& rules) const {
        server_.command({"FLUSHALL"});
        EXPECT_EQ(holdfast({"enlist", "--fresh", "--url", url}).exit_code, 0);
        server_.command({"SCRIPT", "FLUSH"});
        allow(rules);
        const auto ran =
            holdfast({"run", "--url", url, "--user", "guest", "--prefix", "jobs:", "--ttl", "2s",
                      "--kill-after", "200ms", "k", "sleep", "2.2"},
                     with_a_password());
        return ran.exit_code == 0 && !server_.exists("jobs:k");
    }

    void expect_least_advice(const std::string& url) const {
        allow({});
        const auto rules = advised({"--url", url, "--user", "guest", "--prefix", "jobs:"});
        EXPECT_TRUE(can_run(url, rules)) << testing::PrintToString(rules);
        for (const std::string& left_out : rules) {
            words fewer = rules;
            std::erase(fewer, left_out);
            EXPECT_FALSE(can_run(url, fewer)) << "without " << left_out;
        }
    }

    command_options with_a_password() const { return {.environment = {{"REDISCLI_AUTH", "x"}}}; }

    /// As the server says itself: "redis 7.0.15", "valkey 8.1.1".
    std::string product() const {
        const auto said = server_.command({"INFO", "server"});
        const std::string name =
            said.find("valkey_version:") == std::string::npos ? "redis" : "valkey";
        const auto version = said.find(name + "_version:") + name.size() + 9;
        return name + " " + said.substr(version, said.find('\r', version) - version);
    }
};

TEST_F(doctor, looks_at_everything_that_matters) {
    const auto found = verdicts();
    for (const char* check : {"reachable", "round trip", "version", "role", "eviction", "rights",
                              "lock", "tracking", "queue"}) {
        ASSERT_TRUE(found.contains(check)) << check;
        EXPECT_EQ(found.at(check), "ok") << check;
    }
    EXPECT_EQ(found.at("persistence"), "warning");
    EXPECT_EQ(holdfast({"doctor"}).exit_code, 0);
}

TEST_F(doctor, tells_people_one_line_per_check) {
    const auto result = holdfast({"doctor"});
    EXPECT_NE(result.out.find("  ok    reachable    yes, as user default\n"), std::string::npos)
        << result.out;
    EXPECT_NE(result.out.find("  ok    role         master\n"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("  ok    version      " + product() + ","), std::string::npos)
        << result.out;
}

TEST_F(doctor, finds_an_eviction_policy_that_can_drop_locks_and_names_the_fix) {
    server_.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    const auto result = holdfast({"doctor"});
    EXPECT_EQ(result.exit_code, 78);
    EXPECT_NE(result.out.find("FAIL  eviction"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("maxmemory-policy noeviction"), std::string::npos) << result.out;
}

TEST_F(doctor, finds_a_replica) {
    redis_server other;
    server_.command({"REPLICAOF", "127.0.0.1", std::to_string(other.port())});
    EXPECT_EQ(verdicts().at("role"), "problem");
    const auto result = holdfast({"doctor"});
    EXPECT_EQ(result.exit_code, 78);
    EXPECT_TRUE(contains(result.out, "slave of 127.0.0.1:" + std::to_string(other.port()) + ": "))
        << result.out;
}

TEST_F(doctor, finds_a_server_that_was_named_twice) {
    redis_server other;
    const words quorum{"doctor",           "--url", server_.url(), "--url",
                       server_.unix_url(), "--url", other.url()};
    const auto result = holdfast(quorum);
    EXPECT_EQ(result.exit_code, 78);
    EXPECT_NE(result.out.find("FAIL  independent  one with"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("ok    independent  of the others"), std::string::npos) << result.out;
}

TEST_F(doctor, finds_a_master_and_its_replica_in_one_quorum) {
    const redis_server replica(
        {.configuration = {"replicaof 127.0.0.1 " + std::to_string(server_.port()),
                           "repl-diskless-sync-delay 0"}});
    const redis_server third;
    ASSERT_TRUE(eventually(20s, [&] {
        return contains(replica.command({"INFO", "replication"}), "master_link_status:up");
    }));
    for (const auto& [first, second] :
         {std::pair{server_.url(), replica.url()}, std::pair{replica.url(), server_.url()}}) {
        const auto result =
            holdfast({"doctor", "--url", first, "--url", second, "--url", third.url()});
        EXPECT_EQ(result.exit_code, 78);
        const auto name = [](const redis_server& server) {
            return "127.0.0.1:" + std::to_string(server.port());
        };
        const std::string one_with = "FAIL  independent  one with ";
        EXPECT_TRUE(contains(result.out, one_with + name(server_) + ":")) << result.out;
        EXPECT_TRUE(contains(result.out, one_with + name(replica) + ":")) << result.out;
        EXPECT_TRUE(contains(result.out, "ok    independent  of the others")) << result.out;
    }
}

TEST_F(doctor, is_content_with_a_file_that_is_always_synced) {
    server_.command({"CONFIG", "SET", "appendonly", "yes"});
    server_.command({"CONFIG", "SET", "appendfsync", "always"});
    EXPECT_EQ(verdicts().at("persistence"), "ok");
}

TEST_F(doctor, does_not_claim_to_know_what_only_config_get_tells) {
    allow({"+@all", "-config", "~*"});
    for (const char* append_only : {"no", "yes"}) {
        server_.command({"CONFIG", "SET", "appendonly", append_only});
        const auto result = holdfast({"doctor", "--user", "guest"});
        EXPECT_EQ(result.exit_code, 0) << result.out;
        EXPECT_TRUE(contains(result.out,
                             "warn  persistence  not known, as CONFIG GET is "
                             "refused; fix: allow CONFIG GET: redis-cli acl setuser "
                             "guest '+config|get'"))
            << result.out;
    }
}

TEST_F(doctor, tells_an_unreachable_server_from_one_that_refuses_us) {
    const auto nobody = holdfast({"doctor", "--url", "redis://127.0.0.1:1"});
    EXPECT_EQ(nobody.exit_code, 69);
    EXPECT_NE(nobody.out.find("FAIL  reachable"), std::string::npos) << nobody.out << nobody.err;
    redis_options options;
    options.password = "secret";
    redis_server guarded(options);
    EXPECT_EQ(holdfast({"doctor", "--url", guarded.url()}).exit_code, 77);
}

TEST_F(doctor, finds_rights_that_are_missing) {
    server_.command({"ACL", "SETUSER", "guest", "on", "nopass", "~*", "+@all", "-@scripting"});
    const auto result =
        holdfast({"doctor", "--user", "guest"}, {.environment = {{"REDISCLI_AUTH", "x"}}});
    EXPECT_EQ(result.exit_code, 77) << result.out << result.err;
    EXPECT_NE(result.out.find("acl setuser guest"), std::string::npos) << result.out << result.err;
    EXPECT_NE(result.out.find(" +evalsha"), std::string::npos) << result.out << result.err;
}

TEST_F(doctor, advises_key_patterns_where_those_are_missing_and_no_commands) {
    server_.command({"ACL", "SETUSER", "guest", "on", "nopass", "~jobs:*", "+@all"});
    EXPECT_EQ(fix_for("rights", {"--user", "guest", "--prefix", "jobs:"}, with_a_password()),
              "redis-cli acl setuser guest '~holdfast:*'");
    server_.command({"ACL", "SETUSER", "guest", "resetkeys", "~holdfast:*"});
    EXPECT_EQ(fix_for("rights", {"--user", "guest", "--prefix", "jo?s:"}, with_a_password()),
              "redis-cli acl setuser guest '~jo\\?s:*'");
    EXPECT_EQ(
        holdfast({"doctor", "--user", "guest", "--prefix", "jobs:"}, with_a_password()).exit_code,
        77);
}

TEST_F(doctor, without_a_prefix_says_that_the_keys_need_a_rule_of_their_own) {
    server_.command({"ACL", "SETUSER", "guest", "on", "nopass", "resetkeys", "~jobs:*", "+@all"});
    EXPECT_EQ(fix_for("rights", {"--user", "guest"}, with_a_password()),
              "redis-cli acl setuser guest '~holdfast:*', and '~PATTERN' of the keys that you lock "
              "(with --prefix it would be shown)");
}

TEST_F(doctor, shows_no_version_where_it_may_not_ask_for_one) {
    server_.command({"ACL", "SETUSER", "guest", "on", "nopass", "~*", "+@all", "-info"});
    const auto result = holdfast({"doctor", "--user", "guest"}, with_a_password());
    EXPECT_EQ(result.exit_code, 0) << result.out;
    EXPECT_TRUE(contains(result.out, "  warn  version      not known, RESP3; fix: allow INFO\n"))
        << result.out;
}

TEST_F(doctor, says_what_to_look_at_where_nobody_answers) {
    const auto fix = [&](const std::string& url) { return fix_for("reachable", {"--url", url}); };
    EXPECT_TRUE(contains(fix("redis://no-such-host.invalid"), "is the host spelled"));
    EXPECT_TRUE(contains(fix("unix://" + (scratch_ / "none").native()), "unixsocket"));
    EXPECT_TRUE(contains(fix(server_.url() + "/99"), "choose a smaller database"));
    EXPECT_TRUE(contains(fix("redis://127.0.0.1:1"), "are host and port right?"));
}

// The user can do nothing, and is given what each line advises.
TEST_F(doctor, its_advice_about_rights_is_enough) {
    const words as_guest{"--user", "guest", "--prefix", "jobs:"};
    words rules;
    for (int round = 0; round < 2; ++round) {
        allow(rules);
        const auto more = advised(as_guest);
        rules.insert(rules.end(), more.begin(), more.end());
    }
    EXPECT_EQ(std::count(rules.begin(), rules.end(), "+@all"), 0);
    allow(rules);
    words arguments{"doctor"};
    arguments.insert(arguments.end(), as_guest.begin(), as_guest.end());
    const auto result = holdfast(arguments, with_a_password());
    EXPECT_EQ(result.exit_code, 0) << result.out;
    EXPECT_NE(result.out.find("ok    rights       all that are needed"), std::string::npos)
        << result.out;
    const auto ran = holdfast({"run", "--user", "guest", "--prefix", "jobs:", "k", "--", "true"},
                              with_a_password());
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

TEST_F(doctor, its_advice_about_rights_that_a_lock_needs_is_enough_and_the_least) {
    expect_least_advice(server_.url());
}

TEST_F(doctor, its_advice_about_rights_is_enough_and_the_least_with_the_restart_guard) {
    expect_least_advice(guarded());
}

class doctor_of_queues : public doctor {
  protected:
    static constexpr auto lists = {"+lpop", "+rpush", "+lrem", "+llen", "+lpos"};

    /// Of a guest who may do all but this.
    std::string advice_without(const words& rules) const {
        words command{"ACL", "SETUSER", "guest", "reset", "on", "nopass", "~*", "+@all"};
        command.insert(command.end(), rules.begin(), rules.end());
        server_.command(command);
        return fix_for("queue", {"--user", "guest"}, with_a_password());
    }

    bool has_rights_to_channels() const {
        return !server_.query({"ACL", "SETUSER", "probe", "resetchannels"}).is_error();
    }

    std::vector<std::string> all_channels() const {
        return has_rights_to_channels() ? words{"allchannels"} : words{};
    }
};

TEST_F(doctor_of_queues, is_content_with_a_user_who_may_use_lists_and_channels) {
    EXPECT_EQ(advice_without(all_channels()), "");
    const auto result = holdfast({"doctor", "--user", "guest"}, with_a_password());
    EXPECT_TRUE(contains(result.out, "  ok    queue ")) << result.out;
}

TEST_F(doctor_of_queues, warns_of_each_right_that_is_missing) {
    for (const std::string right : lists) {
        auto rules = all_channels();
        rules.push_back("-" + right.substr(1));
        EXPECT_EQ(advice_without(rules), "redis-cli acl setuser guest " + right);
    }
    auto rules = all_channels();
    rules.push_back("-publish");
    EXPECT_TRUE(advice_without(rules).ends_with(" +publish")) << advice_without(rules);
}

TEST_F(doctor_of_queues, warns_of_a_channel_that_is_missing_and_does_not_fail) {
    if (!has_rights_to_channels()) GTEST_SKIP() << "every user has all channels";
    EXPECT_EQ(advice_without({"resetchannels"}), "redis-cli acl setuser guest '&holdfast:*'");
    EXPECT_EQ(advice_without({"resetchannels", "&holdfast:*"}), "");
    EXPECT_EQ(advice_without({"resetchannels", "&other:*"}),
              "redis-cli acl setuser guest '&holdfast:*'");
    const auto result = holdfast({"doctor", "--user", "guest"}, with_a_password());
    EXPECT_EQ(result.exit_code, 0) << result.out;
    EXPECT_TRUE(
        contains(result.out, "  warn  queue        not &holdfast:*: waiters are not called"))
        << result.out;
    EXPECT_TRUE(contains(result.out, "  ok    rights ")) << result.out;
}

TEST_F(doctor_of_queues, warns_of_a_user_who_may_not_subscribe) {
    if (major_version() < 7) GTEST_SKIP() << "nobody can ask";
    EXPECT_EQ(advice_without({"allchannels", "-subscribe"}),
              "redis-cli acl setuser guest +subscribe");
    EXPECT_EQ(advice_without({"resetchannels", "-subscribe"}),
              "redis-cli acl setuser guest '&holdfast:*' +subscribe");
}

// The user can do nothing, and is given what each line advises.
TEST_F(doctor_of_queues, its_advice_is_enough) {
    const words as_guest{"--user", "guest", "--prefix", "jobs:"};
    allow({});
    auto rules = advised(as_guest);
    const auto more = advised(as_guest, "queue");
    rules.insert(rules.end(), more.begin(), more.end());
    allow(rules);
    EXPECT_EQ(advised(as_guest, "queue"), words{});
}

TEST_F(doctor_of_queues, leaves_no_entry_behind_whatever_it_may_not_do) {
    for (const char* right : {"-del", "-lpop", "-rpush", "-eval", "-pexpire"}) {
        advice_without({right});
        EXPECT_EQ(server_.command({"KEYS", "*queue*"}), "") << right;
    }
}

TEST_F(doctor_of_queues, looks_for_none_in_a_quorum) {
    redis_server second;
    redis_server third;
    const auto found =
        verdicts({"--url", server_.url(), "--url", second.url(), "--url", third.url()});
    EXPECT_FALSE(found.contains("queue"));
}

TEST_F(doctor, leaves_nothing_behind) {
    EXPECT_EQ(holdfast({"doctor", "--url", guarded()}).exit_code, 69);
    EXPECT_EQ(holdfast({"doctor"}).exit_code, 0);
    EXPECT_EQ(server_.command({"DBSIZE"}), "0");
}

TEST_F(doctor, finds_a_server_that_is_out_of_memory) {
    ASSERT_EQ(holdfast({"run", "k", "--", "true"}).exit_code, 0);
    server_.command({"CONFIG", "SET", "maxmemory", "1"});
    expect_no_lock("OOM command not allowed", "raise maxmemory");
}

TEST_F(doctor, finds_a_server_that_cannot_write_its_snapshot) {
    ASSERT_EQ(holdfast({"run", "k", "--", "true"}).exit_code, 0);
    std::filesystem::create_directory(server_.directory() / "dump.rdb");
    server_.command({"CONFIG", "SET", "save", "3600 1"});
    server_.command({"BGSAVE"});
    ASSERT_TRUE(eventually(10s, [&] {
        return server_.command({"INFO", "persistence"}).find("rdb_last_bgsave_status:err") !=
               std::string::npos;
    }));
    expect_no_lock("MISCONF ", "stop-writes-on-bgsave-error");
}

TEST_F(doctor, finds_a_server_without_the_replicas_that_it_wants) {
    ASSERT_EQ(holdfast({"run", "k", "--", "true"}).exit_code, 0);
    server_.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
    if (major_version() < 7) {  // lets scripts write all the same
        EXPECT_EQ(holdfast({"doctor"}).exit_code, 0);
        EXPECT_EQ(holdfast({"run", "-n", "k", "--", "true"}).exit_code, 0);
        return;
    }
    expect_no_lock("NOREPLICAS ", "min-replicas-to-write 0");
}

TEST_F(doctor, finds_something_else_at_the_key_of_the_record) {
    server_.command({"LPUSH", "holdfast:record", "a list"});
    const auto result = holdfast({"doctor"});
    EXPECT_EQ(result.exit_code, 78);
    EXPECT_NE(result.out.find("holdfast enlist --fresh"), std::string::npos) << result.out;
    EXPECT_EQ(holdfast({"run", "k", "--", "true"}).exit_code, 78) << "as whoever wants a lock";
    EXPECT_EQ(holdfast({"enlist", "--fresh"}).exit_code, 0);
    EXPECT_EQ(holdfast({"doctor"}).exit_code, 0);
}

TEST_F(doctor, takes_a_record_that_no_client_wrote_for_none) {
    ASSERT_EQ(holdfast({"enlist", "--fresh"}).exit_code, 0);
    const auto record = server_.get("holdfast:record").value();
    const auto spoil = [&](const std::string& field, const std::string& value) {
        const auto at = record.find(field) + field.size();
        const auto end = std::min(record.find(' ', at), record.size());
        server_.command(
            {"SET", "holdfast:record", record.substr(0, at) + value + record.substr(end)});
    };
    for (const auto& [field, value] :
         {std::pair{"floor=", "many"}, {"until=", "9007199254740992"}, {"max_ttl=", "86400001"}}) {
        spoil(field, value);
        const auto result = holdfast({"doctor", "--url", server_.url() + "?restart_guard=on"});
        EXPECT_NE(result.out.find("not marked"), std::string::npos) << field << result.out;
        EXPECT_EQ(result.out.find("agreed"), std::string::npos) << field << result.out;
    }
}

TEST_F(doctor, finds_a_sentinel_and_says_what_to_write_instead) {
    if (major_version() < 7) GTEST_SKIP() << "a sentinel has no users";
    redis_server sentinel(sentinel_of(server_));
    const auto result = holdfast({"doctor", "--url", sentinel.url()});
    EXPECT_EQ(result.exit_code, 78) << result.out;
    EXPECT_NE(result.out.find("FAIL  role        a Sentinel"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find(
                  "--url redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/main,"),
              std::string::npos)
        << result.out;
}

TEST_F(doctor, finds_a_cluster_node) {
    if (major_version() < 7) GTEST_SKIP() << "the bus port cannot be chosen";
    redis_server node{{.cluster = true}};
    const auto result = holdfast({"doctor", "--url", node.url()});
    EXPECT_EQ(result.exit_code, 78) << result.out;
    EXPECT_NE(result.out.find("FAIL  role        a node of a Redis Cluster"), std::string::npos)
        << result.out;
    EXPECT_NE(result.out.find("--url redis+cluster://127.0.0.1:"), std::string::npos) << result.out;
}

TEST_F(doctor, refuses_an_old_redis_with_the_oldest_version_and_so_do_the_others) {
    const std::string sentence =
        "Redis 2.8.24 is too old; Holdfast needs Redis 6.0.6 or later, or Valkey";
    hostile_server old(old_redis("2.8.24"));
    const auto result = holdfast({"doctor", "--url", old.url()});
    EXPECT_EQ(result.exit_code, 78) << result.out;
    EXPECT_NE(result.out.find("FAIL  version     " + sentence), std::string::npos) << result.out;
    for (const words& command :
         {words{"run", "--url", old.url(), "k", "--", "true"},
          words{"lock", "--url", old.url(), "k"}, words{"status", "--url", old.url(), "k"},
          words{"ls", "--url", old.url()}, words{"unlock", "--url", old.url(), "--owner", "x", "k"},
          words{"renew", "--url", old.url(), "--owner", "x", "k"},
          words{"enlist", "--url", old.url()}}) {
        const auto refused = holdfast(command);
        EXPECT_EQ(refused.exit_code, 78) << refused.err;
        EXPECT_NE(refused.err.find(sentence), std::string::npos) << refused.err;
    }
}

TEST_F(doctor, shows_the_max_ttl_that_was_agreed_on_and_who_disagrees) {
    ASSERT_EQ(holdfast({"enlist", "--fresh", "--url", guarded("&max_ttl=5m")}).exit_code, 0);
    const words agrees{"--url", guarded("&max_ttl=5m")};
    EXPECT_EQ(verdicts(agrees).at("max_ttl"), "ok");
    EXPECT_EQ(verdicts(agrees).at("restart"), "ok");
    const auto result = holdfast({"doctor", "--url", guarded()});
    EXPECT_EQ(result.exit_code, 78) << result.out;
    EXPECT_NE(result.out.find("FAIL  max_ttl      its guarded clients agreed on 5m, and this one "
                              "has 1m"),
              std::string::npos)
        << result.out;
    EXPECT_EQ(verdicts().at("max_ttl"), "ok") << "who does not guard may hold for less";
}

TEST_F(doctor, shows_a_quarantine_and_that_one_would_begin) {
    const auto before = holdfast({"doctor", "--url", guarded()});
    EXPECT_EQ(before.exit_code, 69);
    EXPECT_NE(before.out.find("FAIL  restart      not marked"), std::string::npos) << before.out;
    ASSERT_EQ(holdfast({"enlist", "--url", guarded()}).exit_code, 69);
    const auto during = holdfast({"doctor", "--url", guarded()});
    EXPECT_EQ(during.exit_code, 69);
    EXPECT_NE(during.out.find("FAIL  restart      in quarantine for another"), std::string::npos)
        << during.out;
    EXPECT_NE(during.out.find("holdfast enlist --fresh"), std::string::npos) << during.out;
    EXPECT_EQ(verdicts().at("restart"), "warning") << "this client does not wait for it";
    ASSERT_EQ(holdfast({"enlist", "--fresh", "--url", guarded()}).exit_code, 0);
    EXPECT_EQ(holdfast({"doctor", "--url", guarded()}).exit_code, 0);
}

TEST_F(doctor, says_of_its_trial_that_a_lock_in_earnest_has_to_wait) {
    const std::string on_trial = "ok    lock         taken and released on trial";
    const std::string later = on_trial + ", as it can be in earnest after the quarantine\n";
    const auto before = holdfast({"doctor", "--url", guarded()}).out;
    EXPECT_TRUE(contains(before, later)) << before;
    ASSERT_EQ(holdfast({"enlist", "--url", guarded()}).exit_code, 69);
    EXPECT_TRUE(contains(holdfast({"doctor", "--url", guarded()}).out, later));
    EXPECT_TRUE(contains(holdfast({"doctor"}).out, on_trial + "\n")) << "it waits for nothing";
}

class enlist : public tool_test {};

TEST_F(enlist, lets_a_fresh_server_vote) {
    const auto result = holdfast({"enlist", "--fresh"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "127.0.0.1:" + std::to_string(server_.port()) + ": votes\n");
    EXPECT_EQ(result.err, "");
}

TEST_F(enlist, gives_69_for_a_server_in_quarantine_and_says_how_long_and_what_to_do) {
    const auto result = holdfast({"enlist", "--url", server_.url() + "?restart_guard=on"});
    EXPECT_EQ(result.exit_code, 69) << result.err;
    const std::string node = "127.0.0.1:" + std::to_string(server_.port());
    EXPECT_TRUE(result.out.starts_with(node + ": in quarantine for another 1m")) << result.out;
    EXPECT_TRUE(contains(result.err, "wait, or 'holdfast enlist --fresh', only for new servers"))
        << result.err;
}

}  // namespace
}  // namespace holdfast::test
