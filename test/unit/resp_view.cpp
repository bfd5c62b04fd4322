#include "resp/view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "resp/framer.hpp"

namespace holdfast::resp {
namespace {

static_assert(std::forward_iterator<view::iterator>);
static_assert(std::is_trivially_copyable_v<view>);

/// A view of a frame that is first shown to be one.
view read(std::string_view frame) {
    framer frames;
    EXPECT_EQ(frames.scan(frame), framing::complete) << frame;
    EXPECT_EQ(frames.size(), frame.size()) << frame;
    return view{frame};
}

const std::vector<std::pair<std::string_view, kind>> one_of_each{
    {"+OK\r\n", kind::simple_string},
    {"-ERR\r\n", kind::error},
    {":1\r\n", kind::integer},
    {"$1\r\na\r\n", kind::bulk_string},
    {"*1\r\n:1\r\n", kind::array},
    {"_\r\n", kind::null},
    {"$-1\r\n", kind::null},
    {"*-1\r\n", kind::null},
    {",1.5\r\n", kind::number},
    {"#t\r\n", kind::boolean},
    {"!3\r\nERR\r\n", kind::bulk_error},
    {"=5\r\ntxt:a\r\n", kind::verbatim},
    {"(12\r\n", kind::big_number},
    {"%1\r\n:1\r\n:2\r\n", kind::map},
    {"~1\r\n:1\r\n", kind::set},
    {">1\r\n+a\r\n", kind::push},
};

TEST(view, knows_every_kind) {
    for (const auto& [frame, expected] : one_of_each)
        EXPECT_EQ(read(frame).kind(), expected) << frame;
}

TEST(view, tells_errors_and_texts_from_the_rest) {
    for (const auto& [frame, kind] : one_of_each) {
        const view value = read(frame);
        EXPECT_EQ(value.is_error(), kind == kind::error || kind == kind::bulk_error) << frame;
        EXPECT_EQ(value.is_text(), kind == kind::simple_string || kind == kind::bulk_string ||
                                       kind == kind::verbatim)
            << frame;
        EXPECT_EQ(value.is_null(), kind == kind::null) << frame;
    }
}

TEST(view, gives_text_as_it_was_sent) {
    EXPECT_EQ(read("+OK\r\n").text(), "OK");
    EXPECT_EQ(read("-MOVED 1 a:1\r\n").text(), "MOVED 1 a:1");
    EXPECT_EQ(read("$4\r\na\r\nb\r\n").text(), "a\r\nb");
    EXPECT_EQ(read("$0\r\n\r\n").text(), "");
    EXPECT_EQ(read("!5\r\nE\r\nRR\r\n").text(), "E\r\nRR");
    EXPECT_EQ(read("=6\r\ntxt:hi\r\n").text(), "hi");
    EXPECT_EQ(read("=4\r\ntxt:\r\n").text(), "");
    EXPECT_EQ(read("(-123456789012345678901234567890\r\n").text(),
              "-123456789012345678901234567890");
}

TEST(view, gives_integers_over_their_whole_range) {
    EXPECT_EQ(read(":0\r\n").integer(), 0);
    EXPECT_EQ(read(":+12\r\n").integer(), 12);
    EXPECT_EQ(read(":9223372036854775807\r\n").integer(), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(read(":-9223372036854775808\r\n").integer(),
              std::numeric_limits<std::int64_t>::min());
}

TEST(view, reads_an_integer_from_a_string_only_when_asked_to) {
    EXPECT_EQ(read("$2\r\n42\r\n").integer(), std::nullopt);
    EXPECT_EQ(read("$2\r\n42\r\n").as_integer(), 42);
    EXPECT_EQ(read("+-42\r\n").as_integer(), -42);
    EXPECT_EQ(read("=6\r\ntxt:42\r\n").as_integer(), 42);
    EXPECT_EQ(read(":42\r\n").as_integer(), 42);
    EXPECT_EQ(read("$0\r\n\r\n").as_integer(), std::nullopt);
    EXPECT_EQ(read("$3\r\n42 \r\n").as_integer(), std::nullopt);
    EXPECT_EQ(read("$3\r\n4.2\r\n").as_integer(), std::nullopt);
    EXPECT_EQ(read("$19\r\n9223372036854775808\r\n").as_integer(), std::nullopt);
    EXPECT_EQ(read("-42\r\n").as_integer(), std::nullopt);
    EXPECT_EQ(read("$-1\r\n").as_integer(), std::nullopt);
}

TEST(view, gives_numbers_and_booleans) {
    EXPECT_EQ(read(",1.5\r\n").number(), 1.5);
    EXPECT_EQ(read(",+10\r\n").number(), 10.0);
    EXPECT_EQ(read(",-2e-3\r\n").number(), -2e-3);
    EXPECT_EQ(read(",-inf\r\n").number(), -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(read(",nan\r\n").number().value()));
    EXPECT_EQ(read("#t\r\n").boolean(), true);
    EXPECT_EQ(read("#f\r\n").boolean(), false);
}

TEST(view, gives_nothing_where_the_kind_is_another) {
    for (const auto& [frame, kind] : one_of_each) {
        const view value = read(frame);
        const bool has_text = value.is_text() || value.is_error() || kind == kind::big_number;
        const bool has_children =
            kind == kind::array || kind == kind::map || kind == kind::set || kind == kind::push;
        EXPECT_EQ(value.text().empty(), !has_text) << frame;
        EXPECT_EQ(value.integer().has_value(), kind == kind::integer) << frame;
        EXPECT_EQ(value.number().has_value(), kind == kind::number) << frame;
        EXPECT_EQ(value.boolean().has_value(), kind == kind::boolean) << frame;
        EXPECT_EQ(value.size() > 0, has_children) << frame;
        EXPECT_EQ(value.begin() != value.end(), has_children) << frame;
        EXPECT_EQ(value.at(0).has_value(), has_children) << frame;
        EXPECT_FALSE(value.at(value.size())) << frame;
    }
}

TEST(view, walks_children_past_whatever_they_contain) {
    const view value = read("*4\r\n*2\r\n:1\r\n*1\r\n:2\r\n$2\r\n\r\n\r\n*0\r\n+end\r\n");
    ASSERT_EQ(value.size(), 4U);
    const std::vector<view> children(value.begin(), value.end());
    ASSERT_EQ(children.size(), 4U);
    EXPECT_EQ(children[0].size(), 2U);
    EXPECT_EQ(children[0].at(1)->at(0)->integer(), 2);
    EXPECT_EQ(children[1].text(), "\r\n");
    EXPECT_EQ(children[2].size(), 0U);
    EXPECT_EQ(children[3].text(), "end");
    EXPECT_EQ(value.at(3)->text(), "end");
    EXPECT_FALSE(value.at(4));
}

TEST(view, ends_at_the_last_child_even_if_bytes_follow) {
    const view inner = read("*2\r\n*1\r\n:1\r\n:2\r\n").at(0).value();
    EXPECT_EQ(std::distance(inner.begin(), inner.end()), 1);
    EXPECT_FALSE(inner.at(1));
}

TEST(view, counts_keys_and_values_of_a_map) {
    const view value = read("%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n");
    ASSERT_EQ(value.size(), 4U);
    EXPECT_EQ(value.at(0)->text(), "a");
    EXPECT_EQ(value.at(1)->integer(), 1);
    EXPECT_EQ(value.at(2)->text(), "b");
    EXPECT_EQ(value.at(3)->size(), 1U);
}

TEST(view, does_not_show_attributes) {
    const view plain = read("|1\r\n+ttl\r\n*1\r\n:9\r\n|0\r\n:5\r\n");
    EXPECT_EQ(plain.integer(), 5);

    const view list =
        read("*2\r\n|1\r\n+a\r\n|1\r\n+b\r\n:0\r\n:9\r\n:1\r\n|1\r\n+c\r\n:9\r\n:2\r\n");
    ASSERT_EQ(list.size(), 2U);
    std::vector<std::int64_t> seen;
    for (const view child : list) seen.push_back(child.integer().value_or(-1));
    EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(list.at(1)->integer(), 2);
}

TEST(view, of_nothing_is_null) {
    EXPECT_TRUE(view{}.is_null());
    EXPECT_TRUE(view{""}.is_null());
    EXPECT_EQ(view{}.begin(), view{}.end());
}

TEST(view, of_bytes_that_are_no_frame_stays_inside_them) {
    EXPECT_TRUE(view{"?\r\n"}.is_null());
    EXPECT_TRUE(view{"\r\n"}.is_null());
    EXPECT_TRUE(view{"+OK"}.is_null());
    EXPECT_TRUE(view{"+OK\r"}.is_null());
    EXPECT_TRUE(view{"$5\r\nabc\r\n"}.is_null());
    EXPECT_TRUE(view{"=2\r\nab\r\n"}.is_null());
    EXPECT_TRUE(view{"|1\r\n+a\r\n:1\r\n"}.is_null());
    EXPECT_EQ(view{":x\r\n"}.integer(), std::nullopt);
    EXPECT_LE(view{"*999999999\r\n:1\r\n:2\r\n"}.size(), 2U);
}

TEST(to_string, shows_every_kind) {
    const std::vector<std::pair<std::string_view, std::string_view>> expected{
        {"+OK\r\n", "\"OK\""},
        {"-ERR no\r\n", "error \"ERR no\""},
        {"!3\r\nERR\r\n", "error \"ERR\""},
        {":-7\r\n", "-7"},
        {"$-1\r\n", "null"},
        {",1.5\r\n", "1.5"},
        {",-inf\r\n", "-inf"},
        {"#t\r\n", "true"},
        {"#f\r\n", "false"},
        {"=5\r\ntxt:a\r\n", "\"a\""},
        {"(12\r\n", "\"12\""},
        {"*0\r\n", "[]"},
        {"*2\r\n:1\r\n*1\r\n_\r\n", "[1, [null]]"},
        {"%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n", "{\"a\": 1, \"b\": 2}"},
        {"~2\r\n:1\r\n:2\r\n", "set [1, 2]"},
        {">1\r\n+a\r\n", "push [\"a\"]"},
        {"|1\r\n+a\r\n:1\r\n:2\r\n", "2"},
    };
    for (const auto& [frame, text] : expected) EXPECT_EQ(to_string(read(frame)), text);
}

TEST(to_string, escapes_what_a_terminal_must_not_see) {
    const std::string frame = std::string{"$11\r\na\"\\\r\n\t\0\x1b\x7f\xc3\xa9", 16} + "\r\n";
    EXPECT_EQ(to_string(read(frame)), R"("a\"\\\r\n\t\x00\x1b\x7f\xc3\xa9")");
}

TEST(to_string, is_cut_off_behind_the_limit) {
    EXPECT_EQ(to_string(read("$5\r\nhello\r\n"), 7), "\"hello\"");
    EXPECT_EQ(to_string(read("$5\r\nhello\r\n"), 6), "\"hello...\"");
    EXPECT_EQ(to_string(read("$5\r\nhello\r\n"), 4), "\"hel...\"") << "with its quote closed";
    EXPECT_EQ(to_string(read("-OOM no more\r\n"), 10), "error \"OOM...\"");
    EXPECT_EQ(to_string(read("*2\r\n+a\r\n:1234\r\n"), 6), "[\"a\", ...") << "not the one before";
    EXPECT_EQ(to_string(read("*3\r\n:1\r\n:2\r\n:3\r\n"), 4), "[1, ...");
    const std::string large = "$100000\r\n" + std::string(100000, 'x') + "\r\n";
    EXPECT_EQ(to_string(read(large)).size(), 256U + 4U);
}

}  // namespace
}  // namespace holdfast::resp
