#include "tool.hpp"

namespace holdfast::test {
namespace {

/// The command on a terminal, which script(1) makes.
class terminal : public tool_test {
  protected:
    command_result on_terminal(const std::string& command, environment_variables more = {},
                               const std::string& input = "") const {
        command_options how;
        how.environment = std::move(more);
        how.environment.insert(environment_.begin(), environment_.end());
        how.environment.insert({"TERM", "xterm"});
        how.environment.insert({"NO_COLOR", ""});
        how.input = input;
        return run_command({"script", "-qec", command, "/dev/null"}, how);
    }

    static bool coloured(const std::string& text) {
        return text.find("\x1b[") != std::string::npos;
    }
};

TEST_F(terminal, shows_colours_there_and_nowhere_else) {
    EXPECT_TRUE(coloured(on_terminal("\"$HOLDFAST\" status key").out));
    EXPECT_FALSE(coloured(holdfast({"status", "key"}).out));
    EXPECT_FALSE(coloured(holdfast({"doctor"}).out));
}

TEST_F(terminal, shows_no_colours_to_those_who_do_not_want_them) {
    EXPECT_FALSE(coloured(on_terminal("\"$HOLDFAST\" status key", {{"NO_COLOR", "1"}}).out));
    EXPECT_FALSE(coloured(on_terminal("\"$HOLDFAST\" status key", {{"TERM", "dumb"}}).out));
}

TEST_F(terminal, says_after_a_second_for_whom_it_waits_in_one_line) {
    auto holder = start({"run", "--label", "nightly", "key", "sleep", "60"});
    wait_until_held("key");
    const auto result = on_terminal("\"$HOLDFAST\" run -w 2500ms key true", {{"NO_COLOR", "1"}});
    EXPECT_EQ(result.exit_code, 75);
    const auto line = result.out.substr(0, result.out.find('\n'));
    EXPECT_NE(line.find("waiting for 'key': held by "), std::string::npos) << result.out;
    EXPECT_NE(line.find("process " + std::to_string(holder.id()) + " (nightly)"),
              std::string::npos);
    EXPECT_NE(line.find("for at least 1"), std::string::npos) << line;
    EXPECT_NE(line.find("its lease runs another "), std::string::npos) << line;
    EXPECT_EQ(result.out.find("waiting", line.size()), std::string::npos) << result.out;
}

TEST_F(terminal, is_told_nothing_about_a_short_wait) {
    server_.command({"SET", "key", "x", "PX", "300"});
    EXPECT_EQ(on_terminal("\"$HOLDFAST\" run key true").out, "");
}

TEST_F(terminal, is_not_needed_for_the_line_with_v) {
    auto holder = start({"run", "key", "sleep", "60"});
    wait_until_held("key");
    const auto talking = holdfast({"run", "-v", "-w", "1500ms", "key", "true"});
    EXPECT_NE(talking.err.find("waiting for 'key'"), std::string::npos) << talking.err;
    EXPECT_EQ(holdfast({"run", "-w", "1500ms", "key", "true"}).err, "");
}

TEST_F(terminal, is_given_to_a_command_that_wants_to_read_from_it) {
    const auto result = on_terminal(
        "\"$HOLDFAST\" run key -- sh -c 'read line; echo \"got $line\"'", {}, "hello\n");
    EXPECT_NE(result.out.find("got hello"), std::string::npos) << result.out << result.err;
    EXPECT_EQ(result.exit_code, 0);
}

TEST_F(terminal, stays_usable_for_what_comes_after_the_command) {
    const auto result = on_terminal(
        "\"$HOLDFAST\" run key -- sh -c 'read a'; read b; echo \"then $b\"", {}, "one\ntwo\n");
    EXPECT_NE(result.out.find("then two"), std::string::npos) << result.out << result.err;
}

}  // namespace
}  // namespace holdfast::test
