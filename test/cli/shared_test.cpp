#include "tool.hpp"

/// `run -s`, and what the command shows of those who read.
namespace holdfast::test {
namespace {

class shared : public tool_test {
  protected:
    /// A run that reads until its input ends.
    process reader(const std::string& label = "nobody") const {
        return start({"run", "-s", "--label", label, "key", "--", "cat"}, redirect::pipe());
    }

    void wait_until_read_by(std::size_t count) const {
        EXPECT_TRUE(eventually(20s, [&] {
            const auto said = json_of(holdfast({"status", "--json", "key"}).out);
            const auto* const reading = said.if_contains("reading");
            return reading != nullptr && reading->to_number<std::size_t>() == count;
        }));
    }
};

TEST_F(shared, runs_share_the_lock_and_keep_those_out_who_do_not) {
    auto one = reader("first");
    wait_until_read_by(1);
    EXPECT_EQ(holdfast({"run", "-s", "-n", "key", "--", "true"}).exit_code, 0);
    EXPECT_EQ(holdfast({"run", "-n", "key", "--", "true"}).exit_code, 75);
    EXPECT_EQ(holdfast({"run", "-x", "-n", "key", "--", "true"}).exit_code, 75);
    EXPECT_EQ(holdfast({"lock", "-n", "key"}).exit_code, 75);
    one.close_input();
    EXPECT_EQ(one.wait(20s), exit_status{});
    EXPECT_FALSE(server_.exists("key"));
    ASSERT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    EXPECT_EQ(holdfast({"run", "-s", "-n", "key", "--", "true"}).exit_code, 75);
}

TEST_F(shared, takes_one_of_shared_and_exclusive) {
    const auto both = holdfast({"run", "-s", "-x", "key", "--", "true"});
    EXPECT_EQ(both.exit_code, 64);
    EXPECT_TRUE(contains(both.err, "--exclusive")) << both.err;
    EXPECT_EQ(holdfast({"run", "--shared", "key", "--", "true"}).exit_code, 0);
}

TEST_F(shared, status_and_ls_show_who_reads) {
    auto one = reader("first");
    wait_until_read_by(1);
    auto two = reader("second");
    wait_until_read_by(2);
    const auto said = json_of(holdfast({"status", "--json", "key"}).out);
    EXPECT_EQ(said.at("state"), "held");
    EXPECT_EQ(said.at("kind"), "shared");
    ASSERT_EQ(said.at("readers").as_array().size(), 2U);
    for (const auto& each : said.at("readers").as_array()) {
        EXPECT_GT(each.at("ttl_ms").to_number<int>(), 10'000);
        EXPECT_TRUE(each.at("owner").as_string().starts_with("hr1:"));
        EXPECT_TRUE(each.at("label") == "first" || each.at("label") == "second");
    }
    const auto shown = holdfast({"status", "key"}).out;
    EXPECT_TRUE(contains(shown, "readers, the first of them")) << shown;
    EXPECT_TRUE(contains(shown, "(first), its lease runs another")) << shown;
    EXPECT_TRUE(contains(shown, "(second), its lease runs another")) << shown;
    const auto listed = json_of(holdfast({"ls", "--json"}).out);
    EXPECT_EQ(listed.at("kind"), "shared");
    EXPECT_EQ(listed.at("reading"), 2);
    EXPECT_EQ(listed.if_contains("readers"), nullptr) << "as those who wait";
    ASSERT_EQ(holdfast({"lock", "other"}).exit_code, 0);
    const auto table = holdfast({"ls"}).out;
    EXPECT_TRUE(contains(table, "READERS")) << table;
    EXPECT_EQ(json_of(holdfast({"status", "--json", "other"}).out).at("kind"), "exclusive");
    one.close_input();
    two.close_input();
    EXPECT_EQ(one.wait(20s), exit_status{});
    EXPECT_EQ(two.wait(20s), exit_status{});
    EXPECT_FALSE(contains(holdfast({"ls"}).out, "READERS")) << "nobody reads";
}

TEST_F(shared, status_says_who_of_those_waiting_would_read) {
    ASSERT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    auto waits = start({"run", "-s", "key", "--", "true"});
    EXPECT_TRUE(eventually(20s, [&] {
        return server_.command({"LLEN", "holdfast:{key}:queue"}) == "1";
    }));
    EXPECT_TRUE(contains(holdfast({"status", "key"}).out, ", to read"));
    const auto said = json_of(holdfast({"status", "--json", "key"}).out);
    EXPECT_EQ(said.at("waiters").as_array().at(0).at("kind"), "shared");
    waits.kill(SIGTERM);
    EXPECT_EQ(waits.wait(20s), exit_status{.code = 128 + SIGTERM});
}

TEST_F(shared, one_reader_is_unlocked_by_its_owner_and_all_by_force) {
    auto one = reader();
    wait_until_read_by(1);
    const auto mine = holdfast({"run", "-s", "--at-least", "0", "key", "--", "sh", "-c",
                                "$HOLDFAST unlock --owner \"$HOLDFAST_OWNER\" key"});
    EXPECT_EQ(mine.exit_code, 79) << "it was gone before the command had ended: " << mine.err;
    wait_until_read_by(1);
    EXPECT_EQ(holdfast({"unlock", "--force", "--yes", "--reason", "test", "key"}).exit_code, 0);
    EXPECT_FALSE(server_.exists("key"));
    one.close_input();
    EXPECT_EQ(one.wait(20s), exit_status{.code = 79});
}

TEST_F(shared, stays_for_at_least_as_long_as_asked) {
    EXPECT_EQ(holdfast({"run", "-s", "--at-least", "1500ms", "key", "--", "true"}).exit_code, 0);
    auto one = reader();
    wait_until_read_by(1);
    auto brief = start({"run", "-s", "--at-least", "30s", "key", "--", "sleep", "30"});
    wait_until_read_by(2);
    brief.kill(SIGTERM);
    EXPECT_EQ(brief.wait(20s), exit_status{.code = 128 + SIGTERM});
    wait_until_read_by(2);
    one.close_input();
    EXPECT_EQ(one.wait(20s), exit_status{});
    wait_until_read_by(1);
    EXPECT_GT(server_.pttl("key"), 10'000);
}

}  // namespace
}  // namespace holdfast::test
