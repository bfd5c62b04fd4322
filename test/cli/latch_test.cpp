#include "holdfast/holdfast.hpp"
#include "tool.hpp"

/// What the command shows of latches.
namespace holdfast::test {
namespace {

class latches : public tool_test {
  protected:
    client client_{server_.url()};
};

TEST_F(latches, are_shown_by_status_and_ls) {
    latch batch(client_, "batch", 3);
    batch.count_down();
    const auto said = json_of(holdfast({"status", "--json", "batch"}).out);
    EXPECT_EQ(said.at("kind"), "latch");
    EXPECT_EQ(said.at("state"), "held");
    EXPECT_EQ(said.at("count"), 3);
    EXPECT_EQ(said.at("left"), 2);
    EXPECT_GT(said.at("ttl_ms").to_number<int>(), 3'000'000);
    EXPECT_EQ(holdfast({"status", "-q", "batch"}).exit_code, 0);
    const auto shown = holdfast({"status", "batch"}).out;
    EXPECT_TRUE(contains(shown, "latch") && contains(shown, "1 of 3 have counted down")) << shown;
    EXPECT_EQ(json_of(holdfast({"ls", "--json"}).out).at("kind"), "latch");
    EXPECT_TRUE(contains(holdfast({"ls"}).out, "latch: 1 of 3")) << holdfast({"ls"}).out;
    batch.count_down();
    batch.count_down();
    EXPECT_TRUE(contains(holdfast({"status", "batch"}).out, "open"));
    EXPECT_EQ(holdfast({"status", "-q", "batch"}).exit_code, 1);
}

TEST_F(latches, are_no_locks) {
    latch(client_, "batch", 3).count_down();
    const auto refused = holdfast({"run", "-n", "batch", "--", "true"});
    EXPECT_EQ(refused.exit_code, 76) << refused.err;
    EXPECT_TRUE(contains(refused.err, "'batch' is a latch, no lock")) << refused.err;
    const auto together = holdfast({"run", "-n", "-k", "other", "batch", "--", "true"});
    EXPECT_EQ(together.exit_code, 76) << together.err;
    EXPECT_TRUE(contains(together.err, "'batch' is a latch, no lock")) << together.err;
    EXPECT_EQ(holdfast({"elect", "batch", "--", "true"}).exit_code, 76);
    EXPECT_EQ(json_of(holdfast({"status", "--json", "batch"}).out).at("left"), 2);
}

}  // namespace
}  // namespace holdfast::test
