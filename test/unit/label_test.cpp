#include "holdfast/label.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "holdfast/options.hpp"

namespace holdfast {
namespace {

TEST(label, is_a_copy_of_any_string) {
    std::string text = "nightly";
    const acquire_options how{.label = text};
    text = "changed";
    EXPECT_EQ(how.label.view(), "nightly");
    EXPECT_EQ(acquire_options{.label = "literal"}.label.view(), "literal");
    EXPECT_EQ(acquire_options{.label = std::string_view("a\0b", 3)}.label.size(), 3U);
    EXPECT_TRUE(acquire_options{}.label.empty());
}

TEST(label, keeps_its_longest_text_and_the_length_of_a_longer_one) {
    const std::string longest(max_label_bytes, 'x');
    EXPECT_EQ(label_text(longest).view(), longest);
    const label_text longer(longest + "y");
    EXPECT_EQ(longer.size(), max_label_bytes + 1);
    EXPECT_EQ(longer.view(), longest);
}

// What GCC 12 does to options in braces inside a co_await expression.
TEST(label, survives_a_copy_of_its_bytes) {
    auto how = std::make_unique<acquire_options>();
    how->label = "short";
    acquire_options copy;
    std::memcpy(&copy, how.get(), sizeof copy);
    how.reset();
    EXPECT_EQ(copy.label.view(), "short");
}

}  // namespace
}  // namespace holdfast
