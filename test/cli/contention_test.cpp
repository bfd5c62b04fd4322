#include "tool.hpp"

namespace holdfast::test {
namespace {

class contention : public tool_test {};

TEST_F(contention, of_eight_that_do_not_wait_exactly_one_runs) {
    std::vector<process> players;
    for (int n = 0; n < 8; ++n) {
        players.push_back(start({"run", "-n", "lottery", "--", "sh", "-c", "echo won; sleep 3"}));
    }
    int won = 0;
    int refused = 0;
    for (process& player : players) {
        const exit_status status = player.wait(30s);
        won += status.code == 0 && player.output() == "won\n" ? 1 : 0;
        refused += status.code == 75 && player.output().empty() ? 1 : 0;
    }
    EXPECT_EQ(won, 1);
    EXPECT_EQ(refused, 7);
}

TEST_F(contention, of_sixteen_that_count_in_a_file_loses_no_update) {
    const std::string file = (scratch_ / "counter").native();
    const std::string add_ten = "for i in 1 2 3 4 5 6 7 8 9 10; do n=$(cat " + file +
                                "); sleep 0.002; echo $((n + 1)) >" + file + "; done";
    shell("echo 0 >" + file);
    std::vector<process> counters;
    for (int n = 0; n < 16; ++n) counters.push_back(start({"run", "counter", "-c", add_ten}));
    for (process& counter : counters)
        EXPECT_EQ(counter.wait(60s).code, 0) << counter.error_output();
    EXPECT_EQ(contents_of(file), "160\n");
}

}  // namespace
}  // namespace holdfast::test
