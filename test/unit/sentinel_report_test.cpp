#include "net/sentinel_report.hpp"

#include <gtest/gtest.h>

#include "unit/support/stub_server.hpp"

namespace holdfast::net {
namespace {

using testing::bulk;
using testing::published;

std::optional<sentinel_group::address> address_in(const std::string& reply) {
    return read_master_address(resp::view(reply));
}

sentinel_report group_in(const std::string& reply) {
    sentinel_report report;
    read_group(resp::view(reply), report);
    return report;
}

TEST(sentinel_report, reads_where_the_master_is) {
    const auto found = address_in("*2\r\n" + bulk("10.0.0.7") + bulk("7001"));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->host, "10.0.0.7");
    EXPECT_EQ(found->port, 7001);
    EXPECT_EQ(address_in("*2\r\n" + bulk("fe80::1") + bulk("1"))->host, "fe80::1");
    EXPECT_EQ(address_in("*2\r\n" + bulk("db.example.com") + bulk("1"))->host, "db.example.com");
}

TEST(sentinel_report, takes_nothing_for_an_address_that_is_none) {
    for (const auto& reply :
         {std::string("_\r\n"), std::string("*-1\r\n"), std::string("*0\r\n"),
          std::string("-IDONTKNOW I have not enough information to reply\r\n"),
          std::string("+main\r\n"), "*1\r\n" + bulk("a"), "*2\r\n" + bulk("") + bulk("1"),
          "*2\r\n" + bulk("a\nb") + bulk("1"), "*2\r\n" + bulk(std::string(256, 'a')) + bulk("1"),
          "*2\r\n" + bulk("a") + bulk("0"), "*2\r\n" + bulk("a") + bulk("65536"),
          "*2\r\n" + bulk("a") + bulk("-1"), "*2\r\n" + bulk("a") + bulk("1x"),
          "*2\r\n" + bulk("a") + bulk("")}) {
        EXPECT_FALSE(address_in(reply)) << reply;
    }
}

TEST(sentinel_report, counts_the_master_and_its_replicas_in_either_protocol) {
    const auto fields = bulk("name") + bulk("main") + bulk("num-slaves") + bulk("2") +
                        bulk("config-epoch") + bulk("18446744073709551615");
    for (const auto* header : {"%3\r\n", "*6\r\n"}) {
        const auto report = group_in(header + fields);
        EXPECT_EQ(report.members, 3U);
        EXPECT_EQ(report.epoch, 18446744073709551615U);
    }
}

TEST(sentinel_report, says_nothing_of_a_group_that_it_was_told_nothing_of) {
    for (const auto& reply :
         {std::string("-NOPERM no\r\n"), std::string("_\r\n"),
          "%1\r\n" + bulk("num-slaves") + bulk("many"), "*1\r\n" + bulk("num-slaves")}) {
        EXPECT_EQ(group_in(reply), sentinel_report{}) << reply;
    }
}

TEST(sentinel_report, hears_of_a_switch_of_its_own_master_alone) {
    const auto tells = [](const std::string& push) {
        return tells_of_switch(resp::view(push), "main");
    };
    EXPECT_TRUE(tells(published("+switch-master", "main 10.0.0.1 6379 10.0.0.2 6379")));
    EXPECT_FALSE(tells(published("+switch-master", "main2 10.0.0.1 6379 10.0.0.2 6379")));
    EXPECT_FALSE(tells(published("+switch-master", "other main 6379 10.0.0.2 6379")));
    EXPECT_FALSE(tells(published("+sdown", "main 10.0.0.1 6379 10.0.0.2 6379")));
    EXPECT_FALSE(tells(">2\r\n" + bulk("message") + bulk("+switch-master")));
    EXPECT_FALSE(tells(testing::invalidation({"main"})));
}

TEST(sentinel_report, knows_which_masters_a_sentinel_watches) {
    EXPECT_EQ(watched_masters("sentinel_masters:2\r\nmaster0:name=main,status=ok\r\n"
                              "master1:name=other,status=sdown,address=10.0.0.1:6379\r\n"),
              "'main', 'other'");
    EXPECT_EQ(watched_masters("sentinel_masters:0\r\n"), "");
}

}  // namespace
}  // namespace holdfast::net
