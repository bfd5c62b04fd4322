#include <signal.h>

#include "tool.hpp"

namespace holdfast::test {
namespace {

class status_fd : public tool_test {
  protected:
    boost::json::object report(const std::string& arguments) const {
        shell("\"$HOLDFAST\" run --status-fd 5 " + arguments + " 5>\"$DIR/report\"");
        return json_of(contents_of(scratch_ / "report"));
    }
};

TEST_F(status_fd, tells_how_a_command_went) {
    const auto said = report("key -- sh -c 'sleep 0.1; exit 4'");
    EXPECT_EQ(said.size(), 5U);
    EXPECT_EQ(said.at("outcome"), "completed");
    EXPECT_EQ(said.at("child_exit"), 4);
    EXPECT_GE(said.at("held_ms").as_int64(), 100);
    EXPECT_LT(said.at("held_ms").as_int64(), 10'000);
    EXPECT_GE(said.at("wait_ms").as_int64(), 0);
    EXPECT_GT(said.at("token").as_int64(), 0);
}

TEST_F(status_fd, tells_that_the_lock_was_not_acquired_and_how_long_it_took) {
    auto holder = start({"run", "key", "sleep", "60"});
    wait_until_held("key");
    const auto said = report("-w 200ms key true");
    EXPECT_EQ(said.at("outcome"), "not_acquired");
    EXPECT_GE(said.at("wait_ms").as_int64(), 200);
    EXPECT_EQ(said.at("held_ms"), 0);
    EXPECT_EQ(said.at("token"), 0);
    EXPECT_TRUE(said.at("child_exit").is_null());
}

TEST_F(status_fd, tells_of_commands_that_were_stopped_or_never_started) {
    const auto stopped = report("--at-most 100ms key sleep 60");
    EXPECT_EQ(stopped.at("outcome"), "stopped");
    EXPECT_EQ(stopped.at("child_exit"), 143);
    const auto missing = report("key no-such-command");
    EXPECT_EQ(missing.at("outcome"), "not_started");
    EXPECT_TRUE(missing.at("child_exit").is_null());
}

TEST_F(status_fd, tells_of_a_wait_that_a_signal_ended) {
    server_.command({"SET", "key", "somebody", "PX", "60000"});
    auto waiter = start({"run", "--status-fd", "2", "key", "true"});
    ASSERT_TRUE(eventually(10s, [&] {
        return server_.command({"CLIENT", "LIST"}).find("name=holdfast") != std::string::npos;
    }));
    waiter.kill(SIGINT);
    EXPECT_EQ(waiter.wait(10s).code, 130);
    const auto said = json_of(waiter.error_output());
    EXPECT_EQ(said.at("outcome"), "interrupted");
    EXPECT_TRUE(said.at("child_exit").is_null());
}

TEST_F(status_fd, tells_the_token_that_the_command_got) {
    const auto said = report("key -- sh -c 'echo $HOLDFAST_TOKEN >\"$DIR/token\"'");
    EXPECT_EQ(said.at("token"), std::stoll(contents_of(scratch_ / "token")));
}

TEST_F(status_fd, tells_of_errors) {
    EXPECT_EQ(report("--url redis://127.0.0.1:1 -n key true").at("outcome"), "error");
}

}  // namespace
}  // namespace holdfast::test
