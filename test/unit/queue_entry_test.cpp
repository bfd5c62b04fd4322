#include <gtest/gtest.h>

#include <string>

#include "operate/waiters.hpp"

/// The entries of a wait queue, as whoever looks reads them.
namespace holdfast::test {
namespace {

using detail::read_entry;

const std::string digits(40, 'a');
const std::string owner = "hf1:" + digits + ":anna@web1:4711:";
const std::string channel = "holdfast:client:0123456789abcdef0123456789abcdef";

bool is_nobody(const lock_status::waiter& who) {
    return who.who.foreign() && who.who.pid == 0 && who.who.user.empty() && !who.since;
}

TEST(queue_entry, says_who_waits_and_since_when) {
    const auto read = read_entry(channel + " 1700000000123456 " + owner + "nightly");
    EXPECT_EQ(read.who.user, "anna");
    EXPECT_EQ(read.who.host, "web1");
    EXPECT_EQ(read.who.pid, 4711U);
    EXPECT_EQ(read.who.label, "nightly");
    EXPECT_EQ(read.since->time_since_epoch(), std::chrono::microseconds(1700000000123456));
    EXPECT_FALSE(read.waited) << "what time it is is not in the entry";
}

TEST(queue_entry, keeps_the_owner_token_to_itself) {
    EXPECT_EQ(read_entry("- 0 " + owner).who.owner, "");
    EXPECT_EQ(read_entry(owner).who.owner, "");
}

TEST(queue_entry, may_come_from_a_client_that_cannot_be_called_or_does_not_know_the_time) {
    const auto read = read_entry("- 0 " + owner);
    EXPECT_EQ(read.who.host, "web1");
    EXPECT_FALSE(read.since);
}

TEST(queue_entry, has_a_label_that_may_contain_spaces) {
    EXPECT_EQ(read_entry("- 1 " + owner + "a b  c").who.label, "a b  c");
}

TEST(queue_entry, of_another_form_names_nobody) {
    for (const auto& entry : {std::string(),
                              std::string(" "),
                              std::string("  "),
                              std::string("x"),
                              std::string("- 0"),
                              std::string("- 0 "),
                              owner,
                              "- " + owner,
                              " 0 " + owner,
                              "- 0  " + owner,
                              "-  0 " + owner,
                              "- x " + owner,
                              "- -1 " + owner,
                              "- +1 " + owner,
                              "- 0x10 " + owner,
                              "- 1.5 " + owner,
                              "- 99999999999999999999 " + owner,
                              "- 9000000000000001 " + owner,
                              std::string("- 0 somebody"),
                              "- 0 hf2:" + digits + ":anna@web1:1:",
                              "- 0 hf1:" + digits.substr(1) + ":anna@web1:1:",
                              "- 0 hf1:" + digits,
                              std::string(100'000, '\xff'),
                              std::string(3, '\0')}) {
        EXPECT_TRUE(is_nobody(read_entry(entry))) << entry;
    }
}

TEST(queue_entry, is_cut_like_the_value_of_a_key) {
    const auto read = read_entry("- 0 " + owner + std::string(5'000'000, 'x'));
    EXPECT_LT(read.who.label.size(), max_owner_bytes);
    EXPECT_EQ(read.who.pid, 4711U);
}

}  // namespace
}  // namespace holdfast::test
