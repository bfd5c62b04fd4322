#include <signal.h>

#include <fstream>

#include "tool.hpp"

namespace holdfast::test {
namespace {

/// A shell with job control on a terminal of its own, which script(1) makes: what a person types is
/// written to it.
class job_control : public tool_test {
  protected:
    /// Runs the script in bash. `$DIR/pid` is for the process under test to write its number to.
    process on_terminal(const std::string& script) const {
        std::ofstream(scratch_ / "script") << script << "\n";
        process_options options;
        options.arguments = {"script", "-qec", "bash -m \"$DIR/script\"", "/dev/null"};
        options.environment = environment_;
        options.environment["NO_COLOR"] = "1";
        options.input = redirect::pipe();
        options.output = redirect::capture();
        return process(options);
    }

    pid_t command() const { return process_in(scratch_ / "pid"); }

    static bool says(const process& terminal, const std::string& text) {
        return eventually(10s, [&] { return terminal.output().find(text) != std::string::npos; });
    }
};

const std::string note_pid = "echo $$ >$DIR/pid; ";

TEST_F(job_control, lends_the_terminal_when_standard_input_is_a_pipe) {
    auto terminal = on_terminal(
        "seq 3 | \"$HOLDFAST\" run key -- sh -c '" + note_pid +
        "stty -echo </dev/tty; : >$DIR/quiet; read line </dev/tty; stty echo </dev/tty; "
        "echo got $line; cat'");
    const pid_t reader = command();
    ASSERT_TRUE(eventually(10s, [&] { return !stopped(reader) && has_the_terminal(reader); }))
        << terminal.output();
    ASSERT_TRUE(eventually(10s, [&] { return std::filesystem::exists(scratch_ / "quiet"); }));
    terminal.write("hello\n");
    EXPECT_EQ(terminal.wait(10s).code, 0) << terminal.output();
    EXPECT_EQ(terminal.output(), "got hello\r\n1\r\n2\r\n3\r\n");
}

TEST_F(job_control, a_pager_at_the_end_of_a_pipe_can_be_used_and_left) {
    auto terminal =
        on_terminal("seq 1000 | TERM=xterm LESS= \"$HOLDFAST\" run key -- less; echo left $?");
    ASSERT_TRUE(says(terminal, "\n:")) << terminal.output();
    terminal.write("q");
    EXPECT_TRUE(says(terminal, "left 0")) << terminal.output();
    EXPECT_TRUE(eventually(5s, [&] { return !server_.exists("key"); }));
}

// As sudo and ssh do: what they work on comes through the pipe, the password from the terminal.
TEST_F(job_control, a_password_can_be_typed_at_the_end_of_a_pipe) {
    std::ofstream(scratch_ / "ask.py")
        << "import getpass, sys\n"
           "word = getpass.getpass()\n"
           "print('open' if word == 'sesame' else 'shut', *sys.stdin.read().split())\n";
    auto terminal =
        on_terminal("seq 3 | \"$HOLDFAST\" run key -- python3 $DIR/ask.py; echo ended $?");
    ASSERT_TRUE(says(terminal, "Password:")) << terminal.output();
    terminal.write("sesame\n");
    EXPECT_TRUE(says(terminal, "open 1 2 3\r\nended 0\r\n")) << terminal.output();
    EXPECT_EQ(terminal.output().find("sesame"), std::string::npos) << "it was shown";
}

TEST_F(job_control, a_command_in_the_background_gets_the_terminal_with_fg) {
    auto terminal = on_terminal("\"$HOLDFAST\" run --ttl 3s --kill-after 500ms key -- sh -c '" +
                                note_pid + "exec cat' &\nread when; fg; echo then $?");
    const pid_t reader = command();
    ASSERT_TRUE(eventually(10s, [&] { return stopped(reader); })) << terminal.output();
    EXPECT_TRUE(says(terminal, "wants the terminal")) << terminal.output();
    terminal.write("now\n");
    ASSERT_TRUE(eventually(10s, [&] { return !stopped(reader) && has_the_terminal(reader); }))
        << terminal.output();
    terminal.write("hello\n");
    EXPECT_TRUE(says(terminal, "hello\r\nhello\r\n")) << terminal.output();
    terminal.write("\x04");
    EXPECT_TRUE(says(terminal, "then 0")) << terminal.output();
}

TEST_F(job_control, a_command_that_waits_for_the_terminal_keeps_its_lock) {
    auto terminal = on_terminal("\"$HOLDFAST\" run --ttl 1s --kill-after 200ms key -- sh -c '" +
                                note_pid + "exec cat' &\nread when; fg; echo then $?");
    const pid_t reader = command();
    ASSERT_TRUE(eventually(10s, [&] { return stopped(reader); })) << terminal.output();
    const auto owner = server_.get("key");
    EXPECT_FALSE(eventually(2s, [&] { return server_.get("key") != owner; }));
    terminal.write("now\n");
    ASSERT_TRUE(eventually(10s, [&] { return !stopped(reader) && has_the_terminal(reader); }))
        << terminal.output();
    terminal.write("\x04");
    EXPECT_TRUE(says(terminal, "then 0")) << terminal.output();
}

TEST_F(job_control, ctrl_c_ends_a_command_that_has_the_terminal) {
    auto terminal = on_terminal("seq 3 | \"$HOLDFAST\" run key -- sh -c '" + note_pid +
                                "read line </dev/tty'; echo then $?");
    const pid_t reader = command();
    ASSERT_TRUE(eventually(10s, [&] { return !stopped(reader) && has_the_terminal(reader); }))
        << terminal.output();
    terminal.write("\x03");
    EXPECT_EQ(terminal.wait(10s).code, 130) << terminal.output();
    EXPECT_FALSE(contains(terminal.output(), "then")) << "the shell went on";
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(job_control, ctrl_c_ends_a_command_that_has_it_not) {
    auto terminal =
        on_terminal("\"$HOLDFAST\" run key -- sh -c '" + note_pid + "exec sleep 60'; echo then $?");
    command();
    terminal.write("\x03");
    EXPECT_EQ(terminal.wait(10s).code, 130) << terminal.output();
    EXPECT_FALSE(contains(terminal.output(), "then")) << "the shell went on";
}

// bash goes by how its child ended, not by the exit code.
TEST_F(job_control, ctrl_c_ends_the_loop_around_a_command) {
    auto terminal = on_terminal("bash -c 'for n in 1 2 3; do \"$HOLDFAST\" run key -- sh -c \"" +
                                std::string("echo \\$\\$ >$DIR/pid; exec sleep 60") +
                                "\"; echo after $n; done; echo survived'");
    command();
    terminal.write("\x03");
    EXPECT_EQ(terminal.wait(10s).code, 130) << terminal.output();
    EXPECT_FALSE(contains(terminal.output(), "after")) << terminal.output();
}

TEST_F(job_control, ctrl_c_ends_the_loop_around_a_wait) {
    const auto held = holdfast({"lock", "key"});
    ASSERT_EQ(held.exit_code, 0) << held.err;
    for (const char* waiting : {"run key true", "lock key"}) {
        auto terminal = on_terminal("bash -c 'for n in 1 2 3; do \"$HOLDFAST\" " +
                                    std::string(waiting) + "; echo after $n; done; echo survived'");
        ASSERT_TRUE(says(terminal, "held by")) << terminal.output();
        terminal.write("\x03");
        EXPECT_EQ(terminal.wait(10s).code, 130) << terminal.output();
        EXPECT_FALSE(contains(terminal.output(), "after")) << terminal.output();
    }
}

TEST_F(job_control, ctrl_z_stops_the_whole_pipeline_and_fg_resumes_it) {
    auto terminal = on_terminal("yes | \"$HOLDFAST\" run key -- sh -c '" + note_pid +
                                "read line </dev/tty; echo got $line'; echo stopped $?; fg; "
                                "echo then $?");
    const pid_t reader = command();
    ASSERT_TRUE(eventually(10s, [&] { return !stopped(reader) && has_the_terminal(reader); }))
        << terminal.output();
    terminal.write("\x1a");
    ASSERT_TRUE(says(terminal, "stopped 148")) << terminal.output();
    ASSERT_TRUE(eventually(10s, [&] { return !stopped(reader) && has_the_terminal(reader); }))
        << terminal.output();
    terminal.write("hello\n");
    EXPECT_TRUE(says(terminal, "got hello")) << terminal.output();
    EXPECT_TRUE(says(terminal, "then 0")) << terminal.output();
}

TEST_F(job_control, bg_lets_the_command_go_on_without_the_terminal) {
    auto terminal = on_terminal("\"$HOLDFAST\" run key -- sh -c '" + note_pid +
                                "read line </dev/tty; echo got $line'; echo stopped $?; bg; "
                                "read when; fg; echo then $?");
    const pid_t reader = command();
    ASSERT_TRUE(eventually(10s, [&] { return !stopped(reader) && has_the_terminal(reader); }))
        << terminal.output();
    terminal.write("\x1a");
    ASSERT_TRUE(says(terminal, "stopped 148")) << terminal.output();
    EXPECT_TRUE(says(terminal, "wants the terminal")) << terminal.output();
    terminal.write("now\n");
    ASSERT_TRUE(eventually(10s, [&] { return !stopped(reader) && has_the_terminal(reader); }))
        << terminal.output();
    terminal.write("hello\n");
    EXPECT_TRUE(says(terminal, "got hello")) << terminal.output();
    EXPECT_TRUE(says(terminal, "then 0")) << terminal.output();
}

/// sudo catches the signal that stops what is in the background, tidies up, and only then stops
/// itself: after everybody else in its group, and after they were told to go on.
TEST_F(job_control, a_descendant_that_stops_itself_late_is_told_to_go_on) {
    std::ofstream(scratch_ / "late.py") << "import os, signal, time\n"
                                           "tty = open('/dev/tty', 'r+b', buffering=0)\n"
                                           "class Interrupted(Exception): pass\n"
                                           "def caught_it(number, frame): raise Interrupted\n"
                                           "signal.signal(signal.SIGTTIN, caught_it)\n"
                                           "while True:\n"
                                           "    try:\n"
                                           "        line = os.read(tty.fileno(), 100)\n"
                                           "        break\n"
                                           "    except Interrupted:\n"
                                           "        time.sleep(0.02)\n"
                                           "        os.kill(os.getpid(), signal.SIGSTOP)\n"
                                           "print('got', line.decode().strip())\n";
    auto terminal = on_terminal("\"$HOLDFAST\" run key -- sh -c '" + note_pid +
                                "python3 $DIR/late.py; true'; echo then $?");
    const pid_t shell = command();
    ASSERT_TRUE(eventually(10s, [&] { return !stopped(shell) && has_the_terminal(shell); }))
        << terminal.output();
    terminal.write("hello\n");
    EXPECT_TRUE(says(terminal, "got hello")) << terminal.output();
    EXPECT_TRUE(says(terminal, "then 0")) << terminal.output();
}

}  // namespace
}  // namespace holdfast::test
