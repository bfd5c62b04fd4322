#include "tool.hpp"

/// `run --permits`, `limit`, and what the command shows of those who have a permit.
namespace holdfast::test {
namespace {

class permits : public tool_test {
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
    static void let_go(process& who) {
        who.close_input();
        EXPECT_EQ(who.wait(20s), exit_status{});
    }
};

TEST_F(permits, as_many_run_as_there_are_each_with_its_number) {
    auto one = holder();
    wait_until_taken(1);
    const words tells{"run", "--permits", "2", "key", "--", "sh", "-c", "echo slot $HOLDFAST_SLOT"};
    const auto two = holdfast(tells);
    EXPECT_EQ(two.exit_code, 0) << two.err;
    EXPECT_EQ(two.out, "slot 1\n");
    auto another = holder();
    wait_until_taken(2);
    EXPECT_EQ(holdfast({"run", "-n", "--permits", "2", "key", "--", "true"}).exit_code, 75);
    let_go(one);
    EXPECT_EQ(holdfast(tells).out, "slot 0\n");
    let_go(another);
}

TEST_F(permits, leave_no_slot_in_the_environment_of_other_locks) {
    const auto result =
        holdfast({"run", "key", "--", "sh", "-c", "echo \"slot ${HOLDFAST_SLOT-none}\""});
    EXPECT_EQ(result.out, "slot none\n");
}

TEST_F(permits, another_limit_and_another_kind_are_refused_clearly) {
    auto one = holder();
    wait_until_taken(1);
    const auto limit = holdfast({"run", "--permits", "3", "key", "--", "true"});
    EXPECT_EQ(limit.exit_code, 78);
    EXPECT_TRUE(contains(limit.err, "has 2 permits, not 3")) << limit.err;
    EXPECT_TRUE(contains(limit.err, "holdfast limit --permits")) << limit.err;
    const auto plain = holdfast({"run", "key", "--", "true"});
    EXPECT_EQ(plain.exit_code, 76) << plain.err;
    EXPECT_TRUE(contains(plain.err, "semaphore")) << plain.err;
    EXPECT_EQ(holdfast({"run", "-s", "key", "--", "true"}).exit_code, 76);
    for (const auto& keys : {words{"-k", "a", "key"}, words{"-k", "key", "-k", "a", "b"}}) {
        words all{"run"};
        all.insert(all.end(), keys.begin(), keys.end());
        all.push_back("true");
        const auto together = holdfast(all);
        EXPECT_EQ(together.exit_code, 76) << together.err;
        EXPECT_TRUE(contains(together.err, "'key' is a semaphore of 2")) << together.err;
    }
    EXPECT_EQ(holdfast({"lock", "key"}).exit_code, 76);
    ASSERT_EQ(holdfast({"lock", "other"}).exit_code, 0);
    const auto where_a_lock_is = holdfast({"run", "--permits", "2", "other", "--", "true"});
    EXPECT_EQ(where_a_lock_is.exit_code, 76);
    EXPECT_TRUE(contains(where_a_lock_is.err, "'other' is no semaphore")) << where_a_lock_is.err;
    const auto limited = holdfast({"limit", "--permits", "2", "other"});
    EXPECT_EQ(limited.exit_code, 76) << limited.err;
    EXPECT_TRUE(contains(limited.err, "'other' is no semaphore")) << limited.err;
    EXPECT_EQ(holdfast({"run", "--permits", "0", "key", "--", "true"}).exit_code, 64);
    EXPECT_EQ(holdfast({"run", "--permits", "2", "-s", "key", "--", "true"}).exit_code, 64);
    EXPECT_EQ(holdfast({"run", "--permits", "2", "-x", "key", "--", "true"}).exit_code, 64);
    let_go(one);
}

TEST_F(permits, status_and_ls_show_who_has_which_slot) {
    auto one = holder();
    wait_until_taken(1);
    auto two = holder();
    wait_until_taken(2);
    const auto said = json_of(holdfast({"status", "--json", "key"}).out);
    EXPECT_EQ(said.at("state"), "held");
    EXPECT_EQ(said.at("kind"), "semaphore");
    EXPECT_EQ(said.at("limit"), 2);
    ASSERT_EQ(said.at("permits").as_array().size(), 2U);
    const auto& second = said.at("permits").as_array().at(1).as_object();
    EXPECT_EQ(second.at("slot"), 1);
    EXPECT_TRUE(second.at("owner").as_string().starts_with("hs1:"));
    const auto shown = holdfast({"status", "key"}).out;
    EXPECT_TRUE(contains(shown, "2 of 2 taken")) << shown;
    EXPECT_TRUE(contains(shown, "slot 1: ")) << shown;
    EXPECT_EQ(holdfast({"status", "-q", "key"}).exit_code, 0);
    ASSERT_EQ(holdfast({"lock", "alone"}).exit_code, 0);
    const auto listed = holdfast({"ls"}).out;
    EXPECT_TRUE(contains(listed, "PERMITS")) << listed;
    EXPECT_TRUE(contains(listed, "2 of 2")) << listed;
    EXPECT_EQ(json_of(holdfast({"ls", "--json", "key"}).out).at("taken"), 2);
    let_go(one);
    let_go(two);
    const auto after = json_of(holdfast({"status", "--json", "key"}).out);
    EXPECT_EQ(after.at("state"), "free");
    EXPECT_EQ(after.at("kind"), "semaphore");
    EXPECT_EQ(after.at("taken"), 0);
    EXPECT_EQ(holdfast({"status", "-q", "key"}).exit_code, 1);
    EXPECT_FALSE(contains(holdfast({"ls"}).out, "PERMITS"));
}

TEST_F(permits, limit_changes_how_many_there_are) {
    const auto first = holdfast({"limit", "--permits", "2", "key"});
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_TRUE(contains(first.err, "'key' has 2 permits now")) << first.err;
    auto one = holder();
    wait_until_taken(1);
    const auto more = holdfast({"limit", "--permits", "3", "key"});
    EXPECT_TRUE(contains(more.err, "has 3 permits now, and had 2")) << more.err;
    EXPECT_TRUE(contains(holdfast({"limit", "--permits", "3", "key"}).err, "as before"));
    EXPECT_EQ(holdfast({"run", "-n", "--permits", "2", "key", "--", "true"}).exit_code, 78);
    EXPECT_EQ(holdfast({"run", "-n", "--permits", "3", "key", "--", "true"}).exit_code, 0);
    EXPECT_EQ(holdfast({"limit", "key"}).exit_code, 64);
    EXPECT_EQ(holdfast({"limit", "--permits", "0", "key"}).exit_code, 64);
    ASSERT_EQ(holdfast({"lock", "other"}).exit_code, 0);
    EXPECT_EQ(holdfast({"limit", "--permits", "2", "other"}).exit_code, 76);
    let_go(one);
}

TEST_F(permits, one_is_taken_away_by_its_slot) {
    auto one = holder();
    wait_until_taken(1);
    auto two = holder();
    wait_until_taken(2);
    const words force{"unlock", "--force", "--yes", "--reason", "web3 is gone"};
    const auto with = [&](words more) {
        words all = force;
        all.insert(all.end(), more.begin(), more.end());
        return holdfast(all);
    };
    const auto unclear = with({"key"});
    EXPECT_EQ(unclear.exit_code, 64);
    EXPECT_TRUE(contains(unclear.err, "--slot")) << unclear.err;
    EXPECT_EQ(with({"--slot", "5", "key"}).exit_code, 75);
    const auto taken = with({"--slot", "1", "key"});
    EXPECT_EQ(taken.exit_code, 0) << taken.err;
    wait_until_taken(1);
    EXPECT_EQ(json_of(holdfast({"status", "--json", "key"}).out).at("forced").at("reason"),
              "web3 is gone");
    const auto last = with({"key"});
    EXPECT_EQ(last.exit_code, 0) << "there is no other: " << last.err;
    EXPECT_EQ(with({"key"}).exit_code, 75);
    ASSERT_EQ(holdfast({"lock", "other"}).exit_code, 0);
    EXPECT_EQ(with({"--slot", "0", "other"}).exit_code, 64);
    for (auto* each : {&one, &two}) {
        each->close_input();
        (void)each->wait(20s);
    }
}

}  // namespace
}  // namespace holdfast::test
