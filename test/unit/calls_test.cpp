#include "kinds/calls.hpp"

#include <gtest/gtest.h>

namespace holdfast::kinds {
namespace {

TEST(calls, an_entry_begins_with_the_channel_and_since_when_and_ends_where_the_owner_follows) {
    EXPECT_EQ(text_of({.since = 1'700'000'000'000'000, .callable = true}, "holdfast:client:ab"),
              "holdfast:client:ab 1700000000000000 ");
    EXPECT_EQ(text_of({.callable = true}, "holdfast:client:ab"), "holdfast:client:ab 0 ")
        << "not known";
}

TEST(calls, an_entry_of_who_cannot_be_called_has_a_dash_for_a_channel) {
    EXPECT_EQ(text_of({.since = 12}, "holdfast:client:ab"), "- 12 ");
}

TEST(calls, name_the_owner_and_the_lock) {
    const auto whom = read_call("hf1:ab:me@here:1:a label\norders:42");
    ASSERT_TRUE(whom);
    EXPECT_EQ(whom->owner, "hf1:ab:me@here:1:a label");
    EXPECT_EQ(whom->lock, "orders:42");
}

TEST(calls, keep_whatever_the_name_of_the_lock_contains) {
    const auto whom = read_call("owner\nlock\nof \r\n two lines");
    ASSERT_TRUE(whom);
    EXPECT_EQ(whom->owner, "owner");
    EXPECT_EQ(whom->lock, "lock\nof \r\n two lines");
}

TEST(calls, that_are_none_are_told_from_those_that_are) {
    EXPECT_FALSE(read_call(""));
    EXPECT_FALSE(read_call("owner lock"));
    EXPECT_TRUE(read_call("\n")) << "of nobody, for nothing: nobody waits as that";
}

}  // namespace
}  // namespace holdfast::kinds
