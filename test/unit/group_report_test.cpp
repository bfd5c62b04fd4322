#include <gtest/gtest.h>

#include "operate/group.hpp"

namespace holdfast::detail {
namespace {

TEST(group_report, lists_the_replicas_that_a_master_has_connected) {
    const auto all = replicas_in(
        "role:master\r\nconnected_slaves:3\r\n"
        "slave0:ip=10.0.0.2,port=6379,state=online,offset=900,lag=1\r\n"
        "slave1:ip=fe80::1,port=6380,state=wait_bgsave,offset=0,lag=0\r\n"
        "slave2:ip=10.0.0.3,port=6379,state=online,offset=1100,lag=12\r\n"
        "master_repl_offset:1000\r\n");
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].node, "10.0.0.2:6379");
    EXPECT_TRUE(all[0].online);
    EXPECT_EQ(all[0].lag, std::chrono::seconds(1));
    EXPECT_EQ(all[0].bytes_behind, 100U);
    EXPECT_EQ(all[1].node, "[fe80::1]:6380");
    EXPECT_FALSE(all[1].online);
    EXPECT_EQ(all[2].lag, std::chrono::seconds(12));
    EXPECT_EQ(all[2].bytes_behind, 0U) << "it read on while the master answered";
}

TEST(group_report, a_master_without_replicas_lists_none) {
    EXPECT_TRUE(replicas_in("role:master\r\nconnected_slaves:0\r\n").empty());
    EXPECT_TRUE(replicas_in("").empty());
}

}  // namespace
}  // namespace holdfast::detail
