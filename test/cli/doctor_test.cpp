#include <map>
#include <sstream>

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
};

TEST_F(doctor, looks_at_everything_that_matters) {
    const auto found = verdicts();
    for (const char* check :
         {"reachable", "round trip", "version", "role", "eviction", "rights", "tracking"}) {
        ASSERT_TRUE(found.contains(check)) << check;
        EXPECT_EQ(found.at(check), "ok") << check;
    }
    EXPECT_EQ(found.at("persistence"), "warning");
    EXPECT_EQ(holdfast({"doctor"}).exit_code, 0);
}

TEST_F(doctor, tells_people_one_line_per_check) {
    const auto result = holdfast({"doctor"});
    EXPECT_NE(result.out.find("  ok    reachable    yes\n"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("  ok    role         master\n"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("redis 7"), std::string::npos) << result.out;
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
    EXPECT_EQ(holdfast({"doctor"}).exit_code, 78);
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

TEST_F(doctor, is_content_with_a_file_that_is_always_synced) {
    server_.command({"CONFIG", "SET", "appendonly", "yes"});
    server_.command({"CONFIG", "SET", "appendfsync", "always"});
    EXPECT_EQ(verdicts().at("persistence"), "ok");
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
    server_.command(
        {"ACL", "SETUSER", "guest", "on", "nopass", "~*", "&*", "+@all", "-@scripting"});
    const auto result =
        holdfast({"doctor", "--user", "guest"}, {.environment = {{"REDISCLI_AUTH", "x"}}});
    EXPECT_EQ(result.exit_code, 77) << result.out << result.err;
    EXPECT_NE(result.out.find("+EVALSHA"), std::string::npos) << result.out << result.err;
}

class enlist : public tool_test {};

TEST_F(enlist, lets_a_fresh_server_vote) {
    const auto result = holdfast({"enlist", "--fresh"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "server 1: votes\n");
}

}  // namespace
}  // namespace holdfast::test
