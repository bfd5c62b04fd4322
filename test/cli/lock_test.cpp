#include "support/fault_proxy.hpp"
#include "tool.hpp"

namespace holdfast::test {
namespace {

class lock : public tool_test {
  protected:
    /// Takes the lock and returns the owner token.
    std::string take(words arguments) const {
        arguments.insert(arguments.begin(), "lock");
        const auto result = holdfast(arguments);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_TRUE(result.out.ends_with('\n'));
        return result.out.substr(0, result.out.size() - 1);
    }
};

TEST_F(lock, prints_the_owner_token_and_leaves_the_lock) {
    const std::string owner = take({"--ttl", "10s", "key"});
    EXPECT_EQ(server_.get("key"), owner);
    EXPECT_GT(server_.pttl("key"), 5'000);
    EXPECT_LE(server_.pttl("key"), 10'000);
    EXPECT_EQ(holdfast({"unlock", "--owner", owner, "key"}).exit_code, 0);
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(lock, prints_json) {
    const auto said = json_of(holdfast({"lock", "--json", "--ttl", "10s", "key"}).out);
    EXPECT_EQ(said.size(), 5U);
    EXPECT_EQ(said.at("key"), "key");
    EXPECT_EQ(said.at("owner"), server_.get("key").value().c_str());
    EXPECT_GT(said.at("token").as_int64(), 0);
    EXPECT_EQ(said.at("ttl_ms"), 10'000);
    EXPECT_GT(said.at("valid_ms").as_int64(), 5'000);
    EXPECT_LT(said.at("valid_ms").as_int64(), 10'000);
}

TEST_F(lock, gives_75_when_somebody_else_has_it) {
    take({"key"});
    EXPECT_EQ(holdfast({"lock", "-n", "key"}).exit_code, 75);
    EXPECT_EQ(holdfast({"lock", "-w", "100ms", "key"}).exit_code, 75);
}

TEST_F(lock, is_free_again_after_its_ttl) {
    take({"--ttl", "300ms", "key"});
    const auto begin = std::chrono::steady_clock::now();
    take({"-w", "10s", "key"});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST_F(lock, is_released_when_nobody_can_read_the_token) {
    EXPECT_EQ(shell("\"$HOLDFAST\" lock key >/dev/full").exit_code, 71);
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(lock, lives_longer_when_renewed) {
    const std::string owner = take({"--ttl", "5s", "key"});
    EXPECT_EQ(holdfast({"renew", "--owner", owner, "--ttl", "40s", "key"}).exit_code, 0);
    EXPECT_GT(server_.pttl("key"), 30'000);
}

TEST_F(lock, may_live_longer_than_a_minute_on_one_server) {
    take({"--ttl", "2h", "key"});
    EXPECT_GT(server_.pttl("key"), 7'000'000);
}

TEST_F(lock, of_somebody_else_is_neither_renewed_nor_released) {
    take({"key"});
    const std::string stranger = "hf1:0000000000000000000000000000000000000000:a@b:1:";
    EXPECT_EQ(holdfast({"renew", "--owner", stranger, "key"}).exit_code, 75);
    EXPECT_EQ(holdfast({"unlock", "--owner", stranger, "key"}).exit_code, 75);
    EXPECT_TRUE(server_.exists("key"));
}

TEST_F(lock, that_is_gone_is_neither_renewed_nor_released) {
    const std::string owner = take({"key"});
    server_.command({"DEL", "key"});
    EXPECT_EQ(holdfast({"renew", "--owner", owner, "key"}).exit_code, 75);
    EXPECT_EQ(holdfast({"unlock", "--owner", owner, "key"}).exit_code, 75);
    EXPECT_FALSE(server_.exists("key"));
}

class status : public tool_test {};

TEST_F(status, of_a_held_lock_names_the_holder) {
    auto holder = start({"run", "--label", "nightly", "key", "sleep", "60"});
    wait_until_held("key");
    const auto said = json_of(holdfast({"status", "--json", "key"}).out);
    EXPECT_EQ(said.size(), 8U);
    EXPECT_EQ(said.at("key"), "key");
    EXPECT_EQ(said.at("state"), "held");
    EXPECT_EQ(said.at("owner"), server_.get("key").value().c_str());
    const auto& who = said.at("holder").as_object();
    EXPECT_EQ(who.size(), 4U);
    EXPECT_EQ(who.at("pid"), holder.id());
    EXPECT_EQ(who.at("label"), "nightly");
    EXPECT_FALSE(who.at("host").as_string().empty());
    EXPECT_FALSE(who.at("user").as_string().empty());
    EXPECT_GT(said.at("ttl_ms").as_int64(), 0);
    EXPECT_LE(said.at("ttl_ms").as_int64(), 30'000);
    EXPECT_GT(said.at("token").as_int64(), 0);
    EXPECT_EQ(said.at("votes"), 1);
    EXPECT_EQ(said.at("nodes"), 1);
}

TEST_F(status, for_people_says_the_same) {
    auto holder = start({"run", "--label", "nightly", "key", "sleep", "60"});
    wait_until_held("key");
    const auto result = holdfast({"status", "key"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_NE(result.out.find("state   held\n"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("process " + std::to_string(holder.id()) + " (nightly)"),
              std::string::npos)
        << result.out;
}

TEST_F(status, of_a_free_lock) {
    const auto said = json_of(holdfast({"status", "--json", "key"}).out);
    EXPECT_EQ(said.at("state"), "free");
    EXPECT_TRUE(said.at("owner").is_null());
    EXPECT_TRUE(said.at("holder").is_null());
    EXPECT_TRUE(said.at("ttl_ms").is_null());
    EXPECT_EQ(said.at("votes"), 0);
    EXPECT_EQ(said.at("nodes"), 1);
}

TEST_F(status, of_a_key_that_another_library_wrote) {
    server_.command({"SET", "key", "\x1b[31mred\xff", "PX", "60000"});
    const auto said = json_of(holdfast({"status", "--json", "key"}).out);
    EXPECT_EQ(said.at("state"), "foreign");
    EXPECT_EQ(said.at("owner"), "\x1b[31mred\xef\xbf\xbd");
    EXPECT_TRUE(said.at("holder").is_null());
    EXPECT_EQ(holdfast({"status", "key"}).out.find('\x1b'), std::string::npos);
}

TEST_F(status, of_a_key_that_never_expires_has_no_ttl) {
    server_.command({"SET", "key", "for ever"});
    EXPECT_TRUE(json_of(holdfast({"status", "--json", "key"}).out).at("ttl_ms").is_null());
    EXPECT_NE(holdfast({"status", "key"}).out.find("never ends"), std::string::npos);
}

TEST_F(status, of_a_key_that_is_no_lock_gives_76) {
    server_.command({"LPUSH", "key", "x"});
    EXPECT_EQ(holdfast({"status", "key"}).exit_code, 76);
    EXPECT_EQ(holdfast({"run", "-n", "key", "true"}).exit_code, 76);
}

class ls : public tool_test {};

TEST_F(ls, lists_locks_that_match_as_json) {
    for (const char* key : {"a:1", "a:2", "b:1"}) holdfast({"lock", key});
    server_.command({"SET", "a:3", "no lock of ours"});
    const auto result = holdfast({"ls", "--json", "a:*"});
    std::vector<std::string> keys;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) {
        const auto lock = json_of(line + "\n");
        EXPECT_EQ(lock.at("state"), "held");
        keys.emplace_back(lock.at("key").as_string());
    }
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(keys, (words{"a:1", "a:2"}));
}

TEST_F(ls, shows_people_an_aligned_table) {
    holdfast({"lock", "a"});
    holdfast({"lock", "a-longer-key"});
    const auto result = holdfast({"ls"});
    std::istringstream lines(result.out);
    std::string heading;
    std::string first;
    std::string second;
    std::getline(lines, heading);
    std::getline(lines, first);
    std::getline(lines, second);
    EXPECT_TRUE(heading.starts_with("KEY           HOLDER")) << result.out;
    EXPECT_TRUE(first.starts_with("a             ")) << result.out;
    EXPECT_TRUE(second.starts_with("a-longer-key  ")) << result.out;
}

}  // namespace
}  // namespace holdfast::test
