#include "tool.hpp"

/// `run -k`: several keys at once.
namespace holdfast::test {
namespace {

class several : public tool_test {
  protected:
    /// A run that holds both until its input ends.
    process holder_of_both() const {
        return start({"run", "-k", "b", "a", "--", "cat"}, redirect::pipe());
    }
    bool soon_held(const std::string& key) const {
        return eventually(20s, [&] { return server_.exists(key); });
    }
};

TEST_F(several, are_held_together_while_the_command_runs) {
    auto both = holder_of_both();
    ASSERT_TRUE(soon_held("a"));
    EXPECT_TRUE(server_.exists("b"));
    EXPECT_EQ(holdfast({"run", "-n", "b", "--", "true"}).exit_code, 75);
    EXPECT_EQ(holdfast({"lock", "-n", "a"}).exit_code, 75);
    EXPECT_EQ(holdfast({"run", "-n", "-s", "b", "--", "true"}).exit_code, 75);
    EXPECT_EQ(holdfast({"run", "-n", "-k", "a", "c", "--", "true"}).exit_code, 75);
    EXPECT_FALSE(server_.exists("c"));
    both.close_input();
    EXPECT_EQ(both.wait(20s), exit_status{});
    EXPECT_FALSE(server_.exists("a"));
    EXPECT_FALSE(server_.exists("b"));
}

TEST_F(several, are_named_to_the_command) {
    const auto said = holdfast({"run", "-k", "b", "-k", "c", "a", "-c",
                                "echo \"$HOLDFAST_KEY\"; echo \"$HOLDFAST_OWNER\""});
    EXPECT_EQ(said.exit_code, 0) << said.err;
    EXPECT_TRUE(said.out.starts_with("a\nb\nc\nhm1:")) << said.out;
    const auto once = holdfast({"run", "-k", "a", "-k", "b", "a", "-c", "echo \"$HOLDFAST_KEY\""});
    EXPECT_EQ(once.out, "a\nb\n") << "one that is given twice counts once";
}

TEST_F(several, are_shown_by_status_and_ls) {
    auto both = holder_of_both();
    ASSERT_TRUE(soon_held("a"));
    const auto said = json_of(holdfast({"status", "--json", "b"}).out);
    EXPECT_EQ(said.at("state"), "held");
    EXPECT_EQ(said.at("kind"), "several");
    EXPECT_TRUE(contains(holdfast({"status", "a"}).out, "along with other keys"));
    const auto listed = holdfast({"ls", "--json"}).out;
    EXPECT_TRUE(contains(listed, R"("key":"a")") && contains(listed, R"("key":"b")")) << listed;
    EXPECT_TRUE(contains(listed, R"("kind":"several")")) << listed;
    both.close_input();
    EXPECT_EQ(both.wait(20s), exit_status{});
}

TEST_F(several, say_which_of_them_somebody_has) {
    ASSERT_EQ(holdfast({"lock", "--label", "somebody", "b"}).exit_code, 0);
    const auto waited = holdfast({"run", "-v", "-w", "1500ms", "-k", "b", "a", "--", "true"});
    EXPECT_EQ(waited.exit_code, 75);
    EXPECT_TRUE(contains(waited.err, "waiting for 'b'")) << waited.err;
    EXPECT_TRUE(contains(waited.err, "one of 'a', 'b' is held by")) << waited.err;
    EXPECT_TRUE(contains(waited.err, "(somebody)")) << waited.err;
    EXPECT_FALSE(server_.exists("a"));
}

TEST_F(several, stay_for_at_least_as_long_as_asked_after_a_signal) {
    const auto ended =
        holdfast({"run", "--at-least", "1m", "-k", "b", "a", "--", "sh", "-c", "kill -TERM $$"});
    EXPECT_EQ(ended.exit_code, 143) << ended.err;
    EXPECT_GT(server_.pttl("a"), 30'000);
    EXPECT_GT(server_.pttl("b"), 30'000);
}

TEST_F(several, are_lost_with_any_of_them) {
    auto both = start({"run", "--ttl", "3s", "--kill-after", "500ms", "-k", "b", "a", "--", "cat"},
                      redirect::pipe());
    ASSERT_TRUE(soon_held("a"));
    server_.command({"SET", "b", "stranger"});
    const auto ended = both.wait_for(20s);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->code, 79);
    EXPECT_FALSE(server_.exists("a"));
    EXPECT_EQ(server_.get("b"), "stranger");
}

TEST_F(several, are_not_shared) {
    const auto refused = holdfast({"run", "-s", "-k", "b", "a", "--", "true"});
    EXPECT_EQ(refused.exit_code, 64);
    EXPECT_TRUE(contains(refused.err, "-k")) << refused.err;
    EXPECT_EQ(holdfast({"run", "-k", "", "a", "--", "true"}).exit_code, 64);
}

}  // namespace
}  // namespace holdfast::test
