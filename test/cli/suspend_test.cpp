#include <signal.h>

#include "tool.hpp"

namespace holdfast::test {
namespace {

/// Ctrl-Z. Waits are long, because a stopped pair has nothing that would end it.
class suspended : public tool_test {
  protected:
    /// In a group of its own: what is in one that no shell looks after cannot be suspended.
    process start_in_group(const words& arguments) const {
        process_options options;
        options.arguments = holdfast_with(arguments);
        options.environment = environment_;
        options.input = redirect::pipe();
        options.output = redirect::capture();
        options.error = redirect::capture();
        options.own_process_group = true;
        return process(options);
    }

    /// A command that writes its number, and ends when it is told to. It makes no process: a shell
    /// that is stopped while it does would not show it.
    process start_patient(const std::string& ttl) const {
        return start_in_group(
            {"run", "--ttl", ttl, "--kill-after", "500ms", "key", "sh", "-c",
             "echo $$ >'" + (scratch_ / "pid").native() + "'; read line; exit 6"});
    }
};

TEST_F(suspended, the_command_stops_and_goes_on_with_holdfast) {
    auto holder = start_patient("30s");
    const pid_t command = process_in(scratch_ / "pid");
    holder.kill(SIGTSTP);
    EXPECT_TRUE(eventually(10s, [&] { return stopped(holder.id()) && stopped(command); }));
    holder.write("go\n");
    holder.kill(SIGCONT);
    EXPECT_EQ(holder.wait(10s).code, 6) << holder.error_output();
}

TEST_F(suspended, beyond_the_lease_the_command_does_not_go_on) {
    auto holder = start_patient("1500ms");
    const pid_t command = process_in(scratch_ / "pid");
    holder.kill(SIGTSTP);
    ASSERT_TRUE(eventually(10s, [&] { return stopped(holder.id()) && stopped(command); }));
    EXPECT_EQ(holdfast({"run", "-w", "10s", "key", "true"}).exit_code, 0) << "the lease ran out";
    holder.write("go\n");
    holder.kill(SIGCONT);
    EXPECT_EQ(holder.wait(10s).code, 79) << holder.error_output();
    EXPECT_FALSE(alive(command));
    EXPECT_TRUE(contains(holder.error_output(), "holdfast itself was stopped for "))
        << holder.error_output();
    EXPECT_FALSE(contains(holder.error_output(), "by the server")) << holder.error_output();
}

TEST_F(suspended, a_wait_stops_and_goes_on) {
    server_.command({"SET", "key", "somebody", "PX", "60000"});
    auto waiter = start_in_group({"run", "key", "echo", "my turn"});
    ASSERT_TRUE(eventually(10s, [&] {
        return server_.command({"CLIENT", "LIST"}).find("name=holdfast") != std::string::npos;
    }));
    waiter.kill(SIGTSTP);
    EXPECT_TRUE(eventually(10s, [&] { return stopped(waiter.id()); }));
    server_.command({"DEL", "key"});
    waiter.kill(SIGCONT);
    EXPECT_EQ(waiter.wait(10s).code, 0);
    EXPECT_EQ(waiter.output(), "my turn\n");
}

TEST_F(suspended, by_the_terminal_that_the_command_reads_from) {
    process_options options;
    options.arguments = {"script", "-qec",
                         "bash -c 'set -m; \"$HOLDFAST\" run key -- sh -c \"echo \\$\\$ >$DIR/pid; "
                         "read line; echo got \\$line\"; echo then $?; fg >/dev/null'",
                         "/dev/null"};
    options.environment = environment_;
    options.input = redirect::pipe();
    options.output = redirect::capture();
    process terminal(options);
    const pid_t command = process_in(scratch_ / "pid");
    // It has asked for the terminal and been stopped for that; what is typed before it goes on is
    // lost.
    const auto reads = [&] { return has_the_terminal(command) && !stopped(command); };
    ASSERT_TRUE(eventually(10s, reads));
    terminal.write("\x1a");
    EXPECT_TRUE(eventually(10s, [&] {
        return terminal.output().find("then 148") != std::string::npos;
    })) << terminal.output();
    ASSERT_TRUE(eventually(10s, reads)) << terminal.output();
    terminal.write("hello\n");
    EXPECT_EQ(terminal.wait(10s).code, 0) << terminal.output();
    EXPECT_NE(terminal.output().find("got hello"), std::string::npos) << terminal.output();
}

}  // namespace
}  // namespace holdfast::test
