#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>

#include "holdfast/detail/utf8.hpp"
#include "runtime/owner_token.hpp"

namespace holdfast {
namespace {

using runtime::readable;

TEST(labels, keep_what_people_can_read) {
    for (const char* label : {"nightly run", "caf\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac",
                              "\xf0\x9f\x94\x92 deploy", "\xc2\xa0", "~"}) {
        EXPECT_EQ(readable(label), label);
    }
}

TEST(labels, lose_colons_and_what_a_terminal_would_obey) {
    EXPECT_EQ(readable("a:b\x1b[31m\x7f\n"), "a_b_[31m__");
    EXPECT_EQ(readable("C1 as UTF-8: \xc2\x9b"
                       "31m"),
              "C1 as UTF-8_ __31m");
    EXPECT_EQ(readable("C1 as a byte \x9b"
                       "31m"),
              "C1 as a byte _31m");
    EXPECT_EQ(readable("cut off \xe2\x80"), "cut off __");
}

TEST(labels, lose_what_turns_text_around) {
    for (const char* turn : {"\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9",
                             "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
        EXPECT_EQ(readable(turn), "___");
    }
    EXPECT_EQ(readable("\xd8\x9c"), "__");
}

TEST(labels, hold_nothing_else_whatever_was_given) {
    EXPECT_TRUE(rc::check([](const std::string& given) {
        const auto kept = readable(given);
        RC_ASSERT(kept.size() == given.size());
        std::string_view rest = kept;
        while (!rest.empty()) {
            const auto length = detail::printable_length(rest);
            RC_ASSERT(length > 0U && rest.front() != ':');
            rest.remove_prefix(length);
        }
        RC_ASSERT(readable(kept) == kept);
    }));
}

TEST(code_point, reads_sequences_of_every_length) {
    EXPECT_EQ(detail::code_point("A"), U'A');
    EXPECT_EQ(detail::code_point("\xc2\x9b"), U'\x9b');
    EXPECT_EQ(detail::code_point("\xe2\x80\xae"), U'\x202e');
    EXPECT_EQ(detail::code_point("\xf0\x9f\x94\x92"), U'\x1f512');
    EXPECT_EQ(detail::utf8_length("\xc0\xaf"), 0U);
    EXPECT_EQ(detail::utf8_length("\xed\xa0\x80"), 0U);
    EXPECT_EQ(detail::utf8_length(""), 0U);
}

}  // namespace
}  // namespace holdfast
