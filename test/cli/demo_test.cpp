#include <signal.h>

#include <fstream>

#include "tool.hpp"

namespace holdfast::test {
namespace {

class demo : public testing::Test {
  protected:
    process start(const std::string& command = HOLDFAST_COMMAND) const {
        process_options options;
        options.arguments = {HOLDFAST_SOURCE "/script/demo", "--no-build"};
        options.environment = {{"HOLDFAST", command}, {"TMPDIR", scratch_.path().native()}};
        options.output = redirect::capture();
        options.error = redirect::capture();
        options.own_process_group = true;
        return process(options);
    }

    void expect_nothing_left() const {
        EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
        EXPECT_EQ(run_command({"pgrep", "-fa", "--", scratch_.path().native() + "/"}).out, "");
    }

    scratch_directory scratch_{"demo"};
};

TEST_F(demo, shows_what_it_promises_and_leaves_nothing_behind) {
    process running = start();
    EXPECT_EQ(running.wait(100s).code, 0) << running.error_output();
    const std::string shown = running.output();
    for (const char* part : {"1 winner, 7 refused", "160 of 160, 0 updates lost", "is refused",
                             "written by the successor", "held by 3 of 5", "tries: exit code 75",
                             "all paid", "How to go on"}) {
        EXPECT_NE(shown.find(part), std::string::npos) << part << " is missing in\n" << shown;
    }
    expect_nothing_left();
}

TEST_F(demo, fails_where_a_second_holder_gets_the_lock) {
    const scratch_directory elsewhere{"demo-broken"};
    const auto broken = elsewhere / "holdfast";
    std::ofstream(broken) << "#!/bin/sh\ncase \"$*\" in *'-n payroll'*) exit 0 ;; esac\n"
                             "exec '" HOLDFAST_COMMAND "' \"$@\"\n";
    std::filesystem::permissions(broken, std::filesystem::perms::owner_all);
    process running = start(broken);
    EXPECT_EQ(running.wait(100s).code, 1) << running.error_output();
    EXPECT_TRUE(contains(running.error_output(), "somebody else got 0 for it"))
        << running.error_output();
    expect_nothing_left();
}

TEST_F(demo, cleans_up_when_it_is_interrupted) {
    for (const char* moment : {"The lottery", "The counter", "is stopped;", "are killed"}) {
        process running = start();
        ASSERT_TRUE(
            eventually(60s, [&] { return running.output().find(moment) != std::string::npos; }))
            << moment << running.error_output();
        running.kill(SIGINT);
        EXPECT_EQ(running.wait(20s).code, 130) << moment;
        expect_nothing_left();
    }
}

}  // namespace
}  // namespace holdfast::test
