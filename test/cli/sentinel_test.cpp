#include <memory>
#include <sstream>

#include "integration/server_kinds.hpp"
#include "support/sentinel_group.hpp"
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
    EXPECT_EQ(findings("cut off"),
              words{"warning: a master that is cut off goes on granting locks for ever"});
    those.server(0).command({"CONFIG", "SET", "min-replicas-to-write", "1"});
    EXPECT_EQ(findings("cut off"), words{"ok: refuses writes without 1 replica in touch"});
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
