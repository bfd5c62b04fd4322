#include <memory>
#include <sstream>

#include "integration/server_kinds.hpp"
#include "support/sentinel_group.hpp"
#include "support/shifted_clock.hpp"
#include "tool.hpp"

// The command on a master, replicas and Sentinels.

namespace holdfast::test {
namespace {

class behind_sentinel : public tool_test {
  protected:
    void SetUp() override {
        if (major_version() < 7) GTEST_SKIP() << "a sentinel has no users";
    }

    /// Makes a group, and vouches for its master.
    sentinel_group& group(sentinel_group_options how = {}) {
        group_ = std::make_unique<sentinel_group>(std::move(how));
        url_ = group_->url() + "?max_ttl=30s";
        const auto enlisted = on_group({"enlist", "--fresh", "--yes"});
        EXPECT_EQ(enlisted.exit_code, 0) << enlisted.err;
        return *group_;
    }

    command_result on_group(words arguments) const {
        arguments.insert(arguments.begin() + 1, {"--url", url_});
        return holdfast(arguments);
    }

    /// What `doctor --json` says of a check; the verdict first.
    std::vector<std::string> findings(const std::string& check) const {
        std::vector<std::string> all;
        std::istringstream lines(on_group({"doctor", "--json"}).out);
        for (std::string line; std::getline(lines, line);) {
            const auto finding = json_of(line + "\n");
            if (finding.at("check").as_string() != check) continue;
            all.push_back(std::string(finding.at("verdict").as_string().c_str()) + ": " +
                          finding.at("found").as_string().c_str());
            if (finding.at("verdict").as_string() != "ok") {
                EXPECT_FALSE(finding.at("fix").as_string().empty()) << line;
            }
        }
        return all;
    }

    [[nodiscard]] std::string address_of(std::size_t sentinel) {
        return "127.0.0.1:" + std::to_string(group_->sentinel(sentinel).port());
    }

    std::unique_ptr<sentinel_group> group_;
    std::string url_;
};

TEST_F(behind_sentinel, every_command_takes_the_url) {
    group();
    EXPECT_EQ(on_group({"run", "key", "--", "true"}).exit_code, 0);
    EXPECT_EQ(on_group({"status", "key"}).exit_code, 0);
    EXPECT_EQ(on_group({"ls"}).exit_code, 0);
    EXPECT_EQ(on_group({"doctor"}).exit_code, 0) << on_group({"doctor"}).out;
}

TEST_F(behind_sentinel, doctor_looks_at_every_sentinel_and_replica) {
    auto& those = group();
    const auto master = "127.0.0.1:" + std::to_string(those.server(0).port());
    EXPECT_EQ(findings("sentinels"), words{"ok: " + address_of(0) + ", " + address_of(1) + ", " +
                                           address_of(2) + " name " + master + " as main"});
    EXPECT_EQ(findings("election"), words{"ok: 3 Sentinels, quorum 2"});
    EXPECT_EQ(findings("replicas"), words{"ok: 2 replicas online"});
    EXPECT_EQ(findings("acknowledged"), words{"ok: by 1 replica of 2"});
    EXPECT_EQ(findings("cut off"),
              words{"ok: what a master grants without its replicas counts for nobody"});
    EXPECT_EQ(findings("replica"), words{});
    EXPECT_EQ(findings("group"), words{});
    those.server(0).command({"CONFIG", "SET", "min-replicas-to-write", "2"});
    EXPECT_EQ(findings("cut off"), words{"warning: it refuses writes without 2 replicas in touch, "
                                         "and for a lock 1 would do"});
}

TEST_F(behind_sentinel, doctor_finds_a_group_that_cannot_keep_its_promise) {
    auto& those = group();
    url_ += "&replica_acks=none";
    EXPECT_EQ(findings("acknowledged"), words{"warning: by no replica: a fail-over may give a lock "
                                              "to two holders, with tokens in no order"});
    EXPECT_EQ(findings("cut off"),
              words{"warning: a master that is cut off goes on granting locks for ever"});
    those.server(0).command({"CONFIG", "SET", "min-replicas-to-write", "1"});
    EXPECT_EQ(findings("cut off"), words{"ok: refuses writes without 1 replica in touch"});
    EXPECT_EQ(on_group({"doctor"}).exit_code, 0) << "it works";
}

TEST_F(behind_sentinel, doctor_finds_that_any_failure_stops_a_group_of_two) {
    group({.replicas = 1});
    EXPECT_EQ(
        findings("acknowledged"),
        words{"warning: by 1 replica of 1: a majority of two is two, any failure stops all locks"});
}

TEST_F(behind_sentinel, doctor_finds_that_too_few_replicas_are_there_to_acknowledge) {
    auto& those = group();
    those.server(1).kill_hard();
    those.server(2).kill_hard();
    EXPECT_TRUE(eventually(20s, [&] {
        return findings("acknowledged") ==
               words{"problem: by 1 replica of 2, and 0 online: no lock is granted"};
    }));
    EXPECT_EQ(on_group({"doctor"}).exit_code, 69);
}

TEST_F(behind_sentinel, doctor_finds_a_replica_that_would_be_no_good_master) {
    auto& those = group();
    const auto first = "127.0.0.1:" + std::to_string(those.server(1).port());
    const auto second = "127.0.0.1:" + std::to_string(those.server(2).port());
    those.server(1).command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    EXPECT_EQ(findings("replica"), words{"warning: " + first +
                                         " has maxmemory-policy allkeys-lru: once it is promoted "
                                         "it grants no locks"});
    those.server(1).command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
    those.server(2).pause();
    std::vector<std::string> lag;
    EXPECT_TRUE(eventually(20s, [&] { return !(lag = findings("lag")).empty(); }));
    const auto silent = findings("replica");
    those.server(2).resume();
    ASSERT_EQ(lag.size(), 1U);
    EXPECT_TRUE(contains(lag[0], "warning: " + second + " is ")) << lag[0];
    ASSERT_EQ(silent.size(), 1U);
    EXPECT_TRUE(contains(silent[0], second + " cannot be asked: no answer")) << silent[0];
}

TEST_F(behind_sentinel, doctor_finds_a_replica_whose_clock_differs) {
    if (!shifted_clock::available()) GTEST_SKIP() << "clocks can be shifted in the build tree only";
    auto& those = group({.replicas = 0, .sentinels = 1});
    shifted_clock clock;
    clock.jump(1h);
    const redis_server replica{
        {.configuration = {"repl-diskless-sync-delay 0",
                           "replicaof 127.0.0.1 " + std::to_string(those.server(0).port())},
         .environment = clock.environment()}};
    std::vector<std::string> found;
    ASSERT_TRUE(eventually(20s, [&] { return !(found = findings("replica")).empty(); }));
    EXPECT_TRUE(contains(found[0], ": its clock is ")) << found[0];
    EXPECT_TRUE(contains(found[0], " ahead of its master's")) << found[0];
}

TEST_F(behind_sentinel, doctor_says_what_follows_from_another_size_than_was_agreed_on) {
    auto& those = group();
    those.add_replica();
    those.add_replica();
    EXPECT_EQ(findings("group"), words{"warning: its clients agreed on 3 servers, and there are 5: "
                                       "3 replicas must acknowledge"});
    EXPECT_EQ(on_group({"run", "key", "--", "true"}).exit_code, 0) << "and they do";
    EXPECT_EQ(on_group({"enlist", "--fresh", "--yes"}).exit_code, 0);
    EXPECT_EQ(findings("group"), words{});
    EXPECT_EQ(findings("acknowledged"), words{"ok: by 2 replicas of 4"});
    for (const std::size_t n : {3U, 4U}) those.server(n).kill_hard();
    for (const std::size_t n : {0U, 1U, 2U}) {
        those.sentinel(n).query({"SENTINEL", "RESET", those.master_name()});
    }
    EXPECT_TRUE(eventually(20s, [&] {
        return findings("group") == words{
                                        "problem: its clients agreed on 5 servers, and there are "
                                        "3: it is asked for no votes"};
    }));
    // Those that were reset find them one after the other.
    command_result refused;
    EXPECT_TRUE(eventually(20s, [&] {
        refused = on_group({"run", "-w", "0", "key", "--", "true"});
        return contains(refused.err, "a replication group of 5 servers, and a Sentinel knows 3");
    })) << refused.err;
}

TEST_F(behind_sentinel, doctor_finds_that_the_right_to_wait_for_replicas_is_missing) {
    auto& those = group();
    those.server(0).command(
        {"ACL", "SETUSER", "app", "on", "nopass", "~*", "&*", "+@all", "-wait"});
    const auto doctor = [&](const std::string& query) {
        return holdfast({"doctor", "--url", url_ + query, "--user", "app"},
                        {.environment = {{"REDISCLI_AUTH", "x"}}})
            .out;
    };
    EXPECT_TRUE(contains(doctor(""), "acl setuser app +wait")) << doctor("");
    EXPECT_FALSE(contains(doctor("&replica_acks=none"), "+wait")) << "nobody waits then";
}

TEST_F(behind_sentinel, doctor_finds_what_is_down) {
    auto& those = group();
    those.sentinel(1).kill_hard();
    those.server(2).kill_hard();
    EXPECT_EQ(findings("sentinel"), words{"warning: " + address_of(1) + ": Connection refused"});
    ASSERT_TRUE(eventually(
        20s, [&] { return findings("replicas") == words{"warning: 1 of 2 replicas online"}; }));
    EXPECT_EQ(on_group({"doctor"}).exit_code, 0) << "locks can be taken";
}

TEST_F(behind_sentinel, doctor_finds_too_few_sentinels_and_replicas) {
    group({.replicas = 0, .sentinels = 1});
    EXPECT_EQ(findings("election"), words{"warning: 1 Sentinel, quorum 1: without one of them "
                                          "nobody promotes a replica"});
    EXPECT_EQ(findings("replicas"),
              words{"warning: none: nobody can take the place of this master"});
}

TEST_F(behind_sentinel, doctor_finds_sentinels_that_the_url_leaves_out) {
    group();
    url_ = "redis+sentinel://" + address_of(1) + "/main?max_ttl=30s";
    const auto found = findings("sentinels");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[1], "warning: the URL lists 1 of 3 Sentinels");
}

TEST_F(behind_sentinel, doctor_says_what_each_sentinel_says_where_no_master_is_found) {
    group();
    url_ = "redis+sentinel://" + address_of(0) + "," + address_of(1) + "/other";
    const auto result = on_group({"doctor"});
    EXPECT_EQ(result.exit_code, 69) << result.out;
    EXPECT_TRUE(contains(result.out, "knows no master called 'other' (it watches 'main')"))
        << result.out;
    EXPECT_EQ(findings("sentinel").size(), 2U);
}

}  // namespace
}  // namespace holdfast::test
