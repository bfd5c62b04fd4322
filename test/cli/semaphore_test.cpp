#include "tool.hpp"

/// `run --permits`, and what the command shows of those who have one.
namespace holdfast::test {
namespace {

class semaphore : public tool_test {
  protected:
    process holder() const {
        return start({"run", "--permits", "2", "key", "--", "cat"}, redirect::pipe());
    }
    void wait_until_taken(std::size_t count) const {
        EXPECT_TRUE(eventually(20s, [&] {
            const auto result = holdfast({"status", "--json", "key"});
            const auto said = json_of(result.out);
            const auto* const taken = said.if_contains("taken");
            return taken != nullptr && taken->to_number<std::size_t>() == count;
        }));
    }
};

TEST_F(semaphore, as_many_run_as_there_are_permits_each_with_its_number) {
    auto one = holder();
    wait_until_taken(1);
    const auto two =
        holdfast({"run", "--permits", "2", "key", "--", "sh", "-c", "echo slot $HOLDFAST_SLOT"});
    EXPECT_EQ(two.exit_code, 0) << two.err;
    EXPECT_EQ(two.out, "slot 1\n");
    auto another = holder();
    wait_until_taken(2);
    EXPECT_EQ(holdfast({"run", "-n", "--permits", "2", "key", "--", "true"}).exit_code, 75);
    one.close_input();
    EXPECT_EQ(one.wait(20s), exit_status{});
    const auto next =
        holdfast({"run", "--permits", "2", "key", "--", "sh", "-c", "echo slot $HOLDFAST_SLOT"});
    EXPECT_EQ(next.out, "slot 0\n");
    another.close_input();
    EXPECT_EQ(another.wait(20s), exit_status{});
}

TEST_F(semaphore, has_no_slot_in_the_environment_of_other_locks) {
    const auto result =
        holdfast({"run", "key", "--", "sh", "-c", "echo \"slot ${HOLDFAST_SLOT-none}\""});
    EXPECT_EQ(result.out, "slot none\n");
}

TEST_F(semaphore, another_limit_and_another_kind_are_refused_clearly) {
    auto one = holder();
    wait_until_taken(1);
    const auto limit = holdfast({"run", "--permits", "3", "key", "--", "true"});
    EXPECT_EQ(limit.exit_code, 78);
    EXPECT_TRUE(contains(limit.err, "has 2 permits, not 3")) << limit.err;
    const auto plain = holdfast({"run", "key", "--", "true"});
    EXPECT_EQ(plain.exit_code, 76) << plain.err;
    ASSERT_EQ(holdfast({"lock", "other"}).exit_code, 0);
    EXPECT_EQ(holdfast({"run", "--permits", "2", "other", "--", "true"}).exit_code, 76);
    EXPECT_EQ(holdfast({"run", "--permits", "0", "key", "--", "true"}).exit_code, 64);
    EXPECT_EQ(holdfast({"run", "--permits", "2", "-s", "key", "--", "true"}).exit_code, 64);
    one.close_input();
    EXPECT_EQ(one.wait(20s), exit_status{});
}

TEST_F(semaphore, status_and_ls_show_who_has_which_slot) {
    auto one = holder();
    wait_until_taken(1);
    auto two = holder();
    wait_until_taken(2);
    const auto said = json_of(holdfast({"status", "--json", "key"}).out);
    EXPECT_EQ(said.at("kind"), "semaphore");
    EXPECT_EQ(said.at("limit"), 2);
    ASSERT_EQ(said.at("permits").as_array().size(), 2U);
    EXPECT_EQ(said.at("permits").as_array().at(1).at("slot"), 1);
    const auto shown = holdfast({"status", "key"}).out;
    EXPECT_TRUE(contains(shown, "2 of 2 taken")) << shown;
    EXPECT_TRUE(contains(shown, "slot 1: ")) << shown;
    EXPECT_EQ(json_of(holdfast({"ls", "--json"}).out).at("kind"), "semaphore");
    one.close_input();
    two.close_input();
    EXPECT_EQ(one.wait(20s), exit_status{});
    EXPECT_EQ(two.wait(20s), exit_status{});
    EXPECT_EQ(json_of(holdfast({"status", "--json", "key"}).out).at("state"), "free");
}

}  // namespace
}  // namespace holdfast::test
