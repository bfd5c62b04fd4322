// Every limit at its edge, and one beyond.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "resp/framer.hpp"

namespace holdfast::resp {
namespace {

std::string nested_arrays(std::size_t depth) {
    std::string bytes;
    for (std::size_t level = 0; level < depth; ++level) bytes += "*1\r\n";
    return bytes + ":1\r\n";
}

framing verdict_on(std::string_view bytes, const limits& bounds = {}) {
    framer frames{bounds};
    return frames.scan(bytes);
}

std::string error_in(std::string_view bytes, const limits& bounds = {}) {
    framer frames{bounds};
    frames.scan(bytes);
    return std::string{frames.error()};
}

TEST(framer_limits, depth_is_refused_when_it_begins) {
    EXPECT_EQ(verdict_on(nested_arrays(16)), framing::complete);
    EXPECT_EQ(error_in(nested_arrays(17)), "nested too deeply");
    EXPECT_EQ(verdict_on(nested_arrays(2), {.depth = 2}), framing::complete);
    EXPECT_EQ(error_in(nested_arrays(3), {.depth = 2}), "nested too deeply");
    EXPECT_EQ(error_in("*0\r\n", {.depth = 0}), "nested too deeply");
    EXPECT_EQ(verdict_on("*-1\r\n", {.depth = 0}), framing::complete);
}

TEST(framer_limits, depth_counts_attributes) {
    EXPECT_EQ(verdict_on("*1\r\n|1\r\n+a\r\n+b\r\n+c\r\n", {.depth = 2}), framing::complete);
    EXPECT_EQ(error_in("*1\r\n|1\r\n+a\r\n+b\r\n+c\r\n", {.depth = 1}), "nested too deeply");
}

TEST(framer_limits, depth_never_exceeds_what_the_framer_has_room_for) {
    EXPECT_EQ(verdict_on(nested_arrays(framer::max_depth), {.depth = 1000}), framing::complete);
    EXPECT_EQ(error_in(nested_arrays(framer::max_depth + 1), {.depth = 1000}), "nested too deeply");
}

TEST(framer_limits, elements_are_counted_when_announced) {
    EXPECT_EQ(verdict_on("*65536\r\n"), framing::incomplete);
    EXPECT_EQ(error_in("*65537\r\n"), "too many elements");
    EXPECT_EQ(verdict_on("%32768\r\n"), framing::incomplete);
    EXPECT_EQ(error_in("%32769\r\n"), "too many elements");
    EXPECT_EQ(error_in("%2\r\n", {.elements = 3}), "too many elements");
}

TEST(framer_limits, elements_are_counted_over_the_whole_reply) {
    const std::string_view reply = "*2\r\n*1\r\n:1\r\n*2\r\n:1\r\n:2\r\n";
    EXPECT_EQ(verdict_on(reply, {.elements = 5}), framing::complete);
    EXPECT_EQ(error_in(reply, {.elements = 4}), "too many elements");
}

TEST(framer_limits, elements_include_attributes_so_that_a_chain_of_them_ends) {
    const std::string_view chain = "|0\r\n|0\r\n|1\r\n+a\r\n:1\r\n+OK\r\n";
    EXPECT_EQ(verdict_on(chain, {.elements = 5}), framing::complete);
    EXPECT_EQ(error_in(chain, {.elements = 4}), "too many elements");
    EXPECT_EQ(error_in("|0\r\n", {.elements = 0}), "too many elements");
}

TEST(framer_limits, elements_start_anew_with_every_reply) {
    framer frames{{.elements = 2}};
    for (int reply = 0; reply < 3; ++reply) {
        EXPECT_EQ(frames.scan("*2\r\n:1\r\n:2\r\n"), framing::complete);
        frames.reset();
    }
}

TEST(framer_limits, bulk_bytes_are_refused_when_announced) {
    EXPECT_EQ(verdict_on("$16777216\r\n"), framing::incomplete);
    EXPECT_EQ(error_in("$16777217\r\n"), "bulk value too long");
    EXPECT_EQ(error_in("!16777217\r\n"), "bulk value too long");
    EXPECT_EQ(error_in("=16777217\r\n"), "bulk value too long");
    EXPECT_EQ(verdict_on("$3\r\nabc\r\n", {.bulk_bytes = 3}), framing::complete);
    EXPECT_EQ(error_in("$4\r\n", {.bulk_bytes = 3}), "bulk value too long");
}

TEST(framer_limits, line_bytes_are_refused_before_the_line_ends) {
    const std::string longest(64 * 1024, 'x');
    EXPECT_EQ(verdict_on("+" + longest + "\r\n"), framing::complete);
    EXPECT_EQ(verdict_on("+" + longest), framing::incomplete);
    EXPECT_EQ(error_in("+" + longest + "x"), "line too long");
    EXPECT_EQ(error_in("*1\r\n-" + longest + "x"), "line too long");
    EXPECT_EQ(verdict_on("+abc\r\n", {.line_bytes = 3}), framing::complete);
    EXPECT_EQ(error_in("+abcd\r\n", {.line_bytes = 3}), "line too long");
}

TEST(framer_limits, reply_bytes_are_refused_when_announced) {
    const std::string_view reply = "*2\r\n$3\r\nabc\r\n+OK\r\n";
    ASSERT_EQ(reply.size(), 18U);
    EXPECT_EQ(verdict_on(reply, {.reply_bytes = 18}), framing::complete);
    EXPECT_EQ(error_in(reply, {.reply_bytes = 17}), "reply too long");
    EXPECT_EQ(verdict_on("*2\r\n$3\r\n", {.reply_bytes = 13}), framing::incomplete);
    EXPECT_EQ(error_in("*2\r\n$3\r\n", {.reply_bytes = 12}), "reply too long");
}

TEST(framer_limits, may_be_as_large_as_a_number_gets) {
    constexpr std::size_t largest = ~std::size_t{0};
    const limits boundless{largest, largest, largest, largest, largest};
    EXPECT_EQ(verdict_on("*2\r\n$3\r\nabc\r\n%1\r\n+a\r\n:1\r\n", boundless), framing::complete);
    EXPECT_EQ(verdict_on("*18446744073709551615\r\n", boundless), framing::malformed);
    EXPECT_EQ(verdict_on("$18446744073709551615\r\n", boundless), framing::malformed);
}

}  // namespace
}  // namespace holdfast::resp
