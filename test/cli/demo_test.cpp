#include <signal.h>

#include "tool.hpp"

namespace holdfast::test {
namespace {

class demo : public testing::Test {
  protected:
    process start() const {
        process_options options;
        options.arguments = {HOLDFAST_SOURCE "/script/demo", "--no-build"};
        options.environment = {{"HOLDFAST", HOLDFAST_COMMAND},
                               {"TMPDIR", scratch_.path().native()}};
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
    for (const char* part :
         {"1 winner, 7 refused", "160 of 160, 0 updates lost", "is refused",
          "written by the successor", "held by 3 of 5", "all paid", "How to go on"}) {
        EXPECT_NE(shown.find(part), std::string::npos) << part << " is missing in\n" << shown;
    }
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
