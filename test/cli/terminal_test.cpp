#include <fstream>
#include <regex>

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

TEST_F(terminal, aligns_columns_whatever_their_colours) {
    server_.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    const auto shown = on_terminal("\"$HOLDFAST\" doctor").out;
    const auto plain = std::regex_replace(shown, std::regex("\x1b\\[[0-9;]*m"), "");
    EXPECT_TRUE(contains(plain, "\n  ok    reachable ")) << plain;
    EXPECT_TRUE(contains(plain, "\n  FAIL  eviction ")) << plain;
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

TEST_F(terminal, is_told_by_lock_too_who_has_it) {
    auto holder = start({"run", "--label", "nightly", "key", "sleep", "60"});
    wait_until_held("key");
    for (const char* wait : {"-n", "-w 200ms"}) {
        const auto result =
            on_terminal("\"$HOLDFAST\" lock " + std::string(wait) + " key", {{"NO_COLOR", "1"}});
        EXPECT_EQ(result.exit_code, 75);
        EXPECT_TRUE(contains(result.out, "'key' is held by ")) << result.out;
        EXPECT_TRUE(contains(result.out, "(nightly); its lease runs another ")) << result.out;
    }
    EXPECT_EQ(holdfast({"lock", "-n", "key"}).err, "") << "nobody is there to read it";
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

// As top does it: it stops itself when it is kept from the terminal.
TEST_F(terminal, is_given_to_a_command_that_stops_itself_for_want_of_it) {
    std::ofstream(scratch_ / "top.py") << R"(import os, signal, termios
signal.signal(signal.SIGTTOU, lambda *_: os.kill(os.getpid(), signal.SIGSTOP))
terminal = os.open("/dev/tty", os.O_RDWR)
for _ in range(3):
    try:
        termios.tcsetattr(terminal, termios.TCSANOW, termios.tcgetattr(terminal))
        break
    except (InterruptedError, termios.error):
        pass
print("has got it" if os.tcgetpgrp(terminal) == os.getpgrp() else "has not")
)";
    const auto result =
        on_terminal("\"$HOLDFAST\" run key -- python3 " + (scratch_ / "top.py").native());
    EXPECT_NE(result.out.find("has got it"), std::string::npos) << result.out << result.err;
    EXPECT_EQ(result.exit_code, 0);
}

TEST_F(terminal, stays_usable_for_what_comes_after_the_command) {
    const auto result = on_terminal(
        "\"$HOLDFAST\" run key -- sh -c 'read a'; read b; echo \"then $b\"", {}, "one\ntwo\n");
    EXPECT_NE(result.out.find("then two"), std::string::npos) << result.out << result.err;
}

}  // namespace
}  // namespace holdfast::test
