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

// The default ttl is longer than that, and concerns only who takes a lock by it.
TEST_F(lock, can_be_looked_at_and_released_where_max_ttl_is_short) {
    const words url{"--url", server_.url() + "?max_ttl=20s"};
    const auto with_url = [&](words arguments) {
        arguments.insert(arguments.end() - 1, url.begin(), url.end());
        return holdfast(arguments);
    };
    for (int turn = 0; turn < 2; ++turn) {
        const auto taken = with_url({"lock", "--ttl", "10s", "key"});
        ASSERT_EQ(taken.exit_code, 0) << taken.err;
        const auto owner = taken.out.substr(0, taken.out.find('\n'));
        EXPECT_EQ(with_url({"status", "key"}).exit_code, 0);
        EXPECT_EQ(with_url({"status", "-q", "key"}).exit_code, 0);
        const auto ended = turn == 0
                               ? with_url({"unlock", "--owner", owner, "key"})
                               : with_url({"unlock", "--force", "--reason", "x", "--yes", "key"});
        EXPECT_EQ(ended.exit_code, 0) << ended.err;
        EXPECT_FALSE(server_.exists("key"));
    }
}

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

TEST_F(lock, is_released_when_there_is_no_standard_output) {
    command_options how;
    how.environment = environment_;
    const auto result = run_command({"sh", "-c", "\"$HOLDFAST\" lock key >&-"}, how);
    EXPECT_EQ(result.exit_code, 71) << result.err;
    EXPECT_FALSE(server_.exists("key"));
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
    EXPECT_EQ(said.size(), 11U);
    EXPECT_EQ(said.at("key"), "key");
    EXPECT_EQ(said.at("state"), "held");
    EXPECT_EQ(said.at("kind"), "exclusive");
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

TEST_F(status, of_a_free_lock_shows_the_token_of_the_last_holder) {
    ASSERT_EQ(holdfast({"run", "key", "true"}).exit_code, 0);
    const auto free = holdfast({"status", "key"}).out;
    EXPECT_TRUE(contains(free, "\nlast token  ")) << free;
    ASSERT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    const auto held = holdfast({"status", "key"}).out;
    EXPECT_TRUE(contains(held, "\ntoken   ")) << held;
}

TEST_F(status, of_a_key_that_another_library_wrote) {
    server_.command({"SET", "key", "\x1b[31mred\xff", "PX", "60000"});
    const auto said = json_of(holdfast({"status", "--json", "key"}).out);
    EXPECT_EQ(said.at("state"), "foreign");
    EXPECT_EQ(said.at("owner"), "\x1b[31mred\\xff");
    EXPECT_TRUE(said.at("holder").is_null());
    EXPECT_EQ(holdfast({"status", "key"}).out.find('\x1b'), std::string::npos);
}

TEST_F(status, of_a_key_that_never_expires_has_no_ttl) {
    server_.command({"SET", "key", "for ever"});
    EXPECT_TRUE(json_of(holdfast({"status", "--json", "key"}).out).at("ttl_ms").is_null());
    EXPECT_NE(holdfast({"status", "key"}).out.find("never ends"), std::string::npos);
}

TEST_F(status, and_ls_show_long_leases_in_the_units_that_durations_are_read_in) {
    const std::string owner = "hf1:0000000000000000000000000000000000000000:a@b:1:";
    for (const auto& [milliseconds, shown] :
         {std::pair{"172799500", "2d"}, {"129600000", "1d12h"}, {"5400000", "1h30m"}}) {
        server_.command({"SET", "key", owner, "PX", milliseconds});
        const auto shown_by_status = holdfast({"status", "key"}).out;
        EXPECT_TRUE(contains(shown_by_status, "runs another " + std::string(shown) + "\n"))
            << shown_by_status;
        const auto list = holdfast({"ls"}).out;
        EXPECT_TRUE(contains(list, "  " + std::string(shown) + "  ")) << list;
    }
}

TEST_F(status, of_a_key_that_is_no_lock_gives_76) {
    server_.command({"LPUSH", "key", "x"});
    EXPECT_EQ(holdfast({"status", "key"}).exit_code, 76);
    EXPECT_EQ(holdfast({"run", "-n", "key", "true"}).exit_code, 76);
}

// Nobody has noted its life there yet, and nobody can.
TEST_F(status, and_ls_look_at_a_server_that_takes_no_writes) {
    ASSERT_EQ(holdfast({"lock", "--prefix", "jobs:", "key"}).exit_code, 0);
    server_.command({"DEL", "holdfast:record"});
    server_.command({"CONFIG", "SET", "maxmemory", "1"});
    const auto refused = holdfast({"run", "-n", "other", "true"});
    EXPECT_EQ(refused.exit_code, 69) << refused.err;
    EXPECT_TRUE(contains(refused.err, "OOM")) << refused.err;
    const auto shown = holdfast({"status", "--json", "--prefix", "jobs:", "key"});
    ASSERT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_EQ(json_of(shown.out).at("state"), "held");
    EXPECT_EQ(json_of(shown.out).at("key"), "key");
    EXPECT_EQ(holdfast({"status", "-q", "other"}).exit_code, 1);
    const auto listed = holdfast({"ls", "--json", "--prefix", "jobs:"});
    ASSERT_EQ(listed.exit_code, 0) << listed.err;
    EXPECT_EQ(json_of(listed.out).at("key"), "key");
    const auto guarded = holdfast({"status", "--url", server_.url() + "?restart_guard=on", "key"});
    EXPECT_EQ(guarded.exit_code, 69) << "what it may have forgotten nobody knows: " << guarded.out;
}

class ls : public tool_test {
  protected:
    std::uint64_t bytes_sent_by_server() const {
        const std::string field = "total_net_output_bytes:";
        const auto info = server_.command({"INFO", "stats"});
        return std::stoull(info.substr(info.find(field) + field.size()));
    }
};

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

TEST_F(ls, reads_no_more_of_a_large_value_than_shows_that_it_is_no_lock) {
    holdfast({"lock", "mine"});
    server_.command({"SETRANGE", "cache", "17000000", "x"});
    server_.command({"SET", "looks-like-one", "hf1:" + std::string(4'000, '0')});
    const auto read_before = bytes_sent_by_server();
    const auto result = holdfast({"ls", "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(json_of(result.out).at("key"), "mine");
    EXPECT_LT(bytes_sent_by_server() - read_before, 100'000U);
    EXPECT_EQ(json_of(holdfast({"status", "--json", "cache"}).out).at("state"), "foreign");
}

TEST_F(ls, and_status_show_no_control_sequences_that_others_left) {
    const std::string evil =
        "\x1b[2J \x9b"
        "31m \xc2\x9b"
        "31m \xe2\x80\xae"
        "desrever \xe2\x81\xa6";
    const std::string owner =
        "hf1:0000000000000000000000000000000000000000:" + evil + "@" + evil + ":1:" + evil;
    server_.command({"SET", "ours" + evil, owner, "PX", "60000"});
    server_.command({"SET", "theirs" + evil, evil, "PX", "60000"});
    for (const words& asked :
         {words{"ls"}, words{"ls", "--json"}, words{"status", "ours" + evil},
          words{"status", "--json", "ours" + evil}, words{"status", "theirs" + evil},
          words{"status", "--json", "theirs" + evil}}) {
        const auto result = holdfast(asked);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_NE(result.out.find("desrever"), std::string::npos) << result.out;
        for (const char* control : {"\x1b", "\x9b", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6"}) {
            EXPECT_EQ(result.out.find(control), std::string::npos) << result.out;
        }
    }
    const auto complaint = holdfast({"run", "-n", "theirs" + evil, "-v", "no-such-option" + evil});
    EXPECT_EQ(complaint.err.find('\x1b'), std::string::npos) << complaint.err;
    EXPECT_EQ(complaint.err.find('\x9b'), std::string::npos) << complaint.err;
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

TEST_F(ls, aligns_letters_that_take_two_columns_and_accents_that_take_none) {
    for (const char* key : {"\u9375\u9375", "\U0001f512", "e\u0301", "plain"}) {
        ASSERT_EQ(holdfast({"lock", key}).exit_code, 0);
    }
    const auto table = holdfast({"ls"}, {.environment = {{"LC_ALL", "C"}}}).out;
    EXPECT_TRUE(contains(table, "KEY    HOLDER")) << table;
    EXPECT_TRUE(contains(table, "\nplain  ")) << table;
    EXPECT_TRUE(contains(table, "\n\u9375\u9375   ")) << table;
    EXPECT_FALSE(contains(table, "\n\u9375\u9375    ")) << table;
    EXPECT_TRUE(contains(table, "\n\U0001f512     ")) << table;
    EXPECT_FALSE(contains(table, "\n\U0001f512      ")) << table;
    EXPECT_TRUE(contains(table, "\ne\u0301      ")) << table;
}

}  // namespace
}  // namespace holdfast::test
