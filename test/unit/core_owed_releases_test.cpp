#include "core/owed_releases.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::core {
namespace {

constexpr node_index first{0};
constexpr node_index second{1};

constexpr time_point at(int seconds) { return time_point{std::chrono::seconds(seconds)}; }

using owed = owed_releases<std::string>;

std::vector<std::string> due(owed& releases, node_index node, time_point now) {
    std::vector<std::string> all;
    releases.due(node, now, [&](const std::string& each) { all.push_back(each); });
    return all;
}

TEST(owed_releases, are_due_oldest_first_on_the_node_that_they_are_owed_to) {
    owed releases;
    releases.owe(first, "a", at(9));
    releases.owe(first, "b", at(9));
    releases.owe(second, "c", at(9));
    EXPECT_EQ(due(releases, first, at(1)), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(due(releases, second, at(1)), (std::vector<std::string>{"c"}));
}

TEST(owed_releases, stay_owed_until_they_are_answered) {
    owed releases;
    releases.owe(first, "a", at(9));
    EXPECT_EQ(due(releases, first, at(1)).size(), 1U);
    EXPECT_EQ(due(releases, first, at(2)).size(), 1U);
    releases.settled(second, "a");
    EXPECT_EQ(due(releases, first, at(3)).size(), 1U);
    releases.settled(first, "a");
    EXPECT_TRUE(due(releases, first, at(4)).empty());
}

TEST(owed_releases, lapse_when_the_key_is_gone_by_itself) {
    owed releases;
    releases.owe(first, "a", at(5));
    EXPECT_TRUE(due(releases, first, at(5)).empty());
    EXPECT_EQ(releases.size(first), 0U);
}

TEST(owed_releases, are_owed_once_with_the_latest_end) {
    owed releases;
    releases.owe(first, "a", at(2));
    releases.owe(first, "a", at(9));
    EXPECT_EQ(due(releases, first, at(5)), (std::vector<std::string>{"a"}));
}

TEST(owed_releases, that_were_owed_before_go_to_the_end_of_the_line) {
    owed releases;
    releases.owe(first, "a", at(9));
    releases.owe(first, "b", at(9));
    releases.owe(first, "a", at(9));
    EXPECT_EQ(due(releases, first, at(1)), (std::vector<std::string>{"b", "a"}));
}

TEST(owed_releases, beyond_the_limit_the_oldest_is_left_to_its_ttl) {
    owed_releases<int> releases;
    for (int i = 0; i <= static_cast<int>(owed_releases<int>::most_per_node); ++i) {
        releases.owe(first, i, at(9));
    }
    EXPECT_EQ(releases.size(first), owed_releases<int>::most_per_node);
    int oldest = -1;
    releases.due(first, at(1), [&](int each) { oldest = oldest < 0 ? each : oldest; });
    EXPECT_EQ(oldest, 1);
}

TEST(owed_releases, beyond_the_limit_what_is_gone_soonest_by_itself_goes_first) {
    owed releases;
    releases.owe(first, "leaves the line", at(3600));
    releases.owe(first, "lives longer", at(60));
    releases.owe(first, "lives shortly", at(5));
    for (std::size_t i = 0; i + 2 < owed::most_per_node; ++i) {
        releases.owe(first, std::to_string(i), at(9));
    }
    const auto all = due(releases, first, at(1));
    EXPECT_EQ(all.size(), owed::most_per_node);
    EXPECT_EQ(all[0], "leaves the line");
    EXPECT_EQ(all[1], "lives longer");
    EXPECT_EQ(all[2], "0") << "the third was gone soonest";
}

}  // namespace
}  // namespace holdfast::core
