#include "support/replication_group.hpp"
#include "tool.hpp"

namespace holdfast::test {
namespace {

/// A master with one replica, which has to acknowledge every lock.
class acknowledgement : public testing::Test {
  protected:
    command_result holdfast(const words& arguments) {
        words all{arguments.front(), "--url", group_.master().url() + "?replica_acks=1&patience=0"};
        all.insert(all.end(), arguments.begin() + 1, arguments.end());
        return run_command(holdfast_with(all));
    }

    replication_group group_{1};
};

TEST_F(acknowledgement, a_lock_that_no_replica_knows_is_not_had_and_it_says_why) {
    const auto vouched = holdfast({"enlist", "--fresh", "--yes"});
    ASSERT_EQ(vouched.exit_code, 0) << vouched.err;
    const auto locked = holdfast({"run", "key", "--", "echo", "under it"});
    EXPECT_EQ(locked.exit_code, 0) << locked.err;
    EXPECT_EQ(locked.out, "under it\n");
    group_.server(1).kill_hard();
    const auto refused = holdfast({"run", "key", "--", "echo", "under it"});
    EXPECT_EQ(refused.exit_code, 69) << refused.err;
    EXPECT_EQ(refused.out, "") << "it was not started";
    EXPECT_TRUE(contains(refused.err,
                         "granted, but acknowledged by 0 of the 1 replicas that replica_acks asks "
                         "for"))
        << refused.err;
    EXPECT_FALSE(group_.master().exists("key"));
}

TEST_F(acknowledgement, a_part_of_a_group_of_unknown_size_is_refused_with_what_to_write) {
    const auto refused = run_command(holdfast_with(
        {"run", "--url", group_.master().url() + "?replica_acks=majority", "key", "--", "true"}));
    EXPECT_EQ(refused.exit_code, 64) << refused.err;
    EXPECT_TRUE(contains(refused.err, "replica_acks=1")) << refused.err;
}

}  // namespace
}  // namespace holdfast::test
