#include "resp/framer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::resp {
namespace {

using namespace std::string_view_literals;

/// Scans byte by byte, as the slowest network would deliver it.
framing trickle(framer& frames, std::string_view bytes) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const framing verdict = frames.scan(bytes.substr(0, size));
        if (verdict != framing::incomplete) return verdict;
    }
    return frames.scan(bytes);
}

const std::vector<std::string_view> valid_replies{
    "+OK\r\n",
    "+\r\n",
    "-ERR no such key\r\n",
    ":0\r\n",
    ":+7\r\n",
    ":-0\r\n",
    ":9223372036854775807\r\n",
    ":-9223372036854775808\r\n",
    "$0\r\n\r\n",
    "$5\r\nhello\r\n",
    "$4\r\n\r\n\r\n\r\n",
    "$-1\r\n",
    "*-1\r\n",
    "*0\r\n",
    "*2\r\n$3\r\nfoo\r\n:1\r\n",
    "*3\r\n*1\r\n+a\r\n*0\r\n*-1\r\n",
    "_\r\n",
    ",1.5\r\n",
    ",10\r\n",
    ",+3e2\r\n",
    ",-1.25E-3\r\n",
    ",inf\r\n",
    ",-inf\r\n",
    ",nan\r\n",
    ",-nan\r\n",
    "#t\r\n",
    "#f\r\n",
    "!9\r\nERR \r\nbad\r\n",
    "=4\r\ntxt:\r\n",
    "=8\r\nmkd:# hi\r\n",
    "(3492890328409238509324850943850943825024385\r\n",
    "(-1\r\n",
    "%0\r\n",
    "%2\r\n+a\r\n:1\r\n+b\r\n%1\r\n:1\r\n_\r\n",
    "~2\r\n#t\r\n#f\r\n",
    ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n",
    "|1\r\n+ttl\r\n:5\r\n+OK\r\n",
    "|0\r\n+OK\r\n",
    "|1\r\n+a\r\n*1\r\n:1\r\n|1\r\n+b\r\n:2\r\n*2\r\n:1\r\n|1\r\n+c\r\n:3\r\n:2\r\n",
    "|1\r\n+a\r\n:1\r\n>1\r\n+pong\r\n",
};

TEST(framer, finds_the_end_of_every_type) {
    for (const std::string_view reply : valid_replies) {
        framer frames;
        EXPECT_EQ(frames.scan(reply), framing::complete) << reply << frames.error();
        EXPECT_EQ(frames.size(), reply.size()) << reply;
        EXPECT_EQ(frames.error(), "") << reply;
    }
}

TEST(framer, takes_every_proper_prefix_as_incomplete) {
    for (const std::string_view reply : valid_replies) {
        for (std::size_t size = 0; size < reply.size(); ++size) {
            framer frames;
            EXPECT_EQ(frames.scan(reply.substr(0, size)), framing::incomplete) << reply << size;
            EXPECT_EQ(frames.size(), 0U) << reply << size;
        }
    }
}

TEST(framer, finds_the_same_end_byte_by_byte) {
    for (const std::string_view reply : valid_replies) {
        framer frames;
        EXPECT_EQ(trickle(frames, reply), framing::complete) << reply;
        EXPECT_EQ(frames.size(), reply.size()) << reply;
    }
}

TEST(framer, separates_replies_that_arrive_together) {
    std::string together;
    for (const std::string_view reply : valid_replies) together += reply;

    framer frames;
    std::string_view rest = together;
    for (const std::string_view reply : valid_replies) {
        ASSERT_EQ(frames.scan(rest), framing::complete) << reply;
        ASSERT_EQ(rest.substr(0, frames.size()), reply);
        rest.remove_prefix(frames.size());
        frames.reset();
    }
    EXPECT_EQ(frames.scan(rest), framing::incomplete);
}

struct malformed_case {
    std::string_view bytes;
    std::string_view error;
    std::size_t position;
};

const std::vector<malformed_case> malformed_replies{
    {"PING\r\n", "unknown type byte", 0},
    {"\r\n", "unknown type byte", 0},
    {"\0"sv, "unknown type byte", 0},
    {".\r\n", "unknown type byte", 0},
    {";4\r\n", "unknown type byte", 0},
    {"*1\r\nx", "unknown type byte", 4},
    {"+OK\n", "line feed without carriage return", 3},
    {"+O\rK\r\n", "carriage return without line feed", 3},
    {"$1\n", "line feed without carriage return", 2},
    {":\r\n", "not a 64-bit integer", 1},
    {":+\r\n", "not a 64-bit integer", 1},
    {":+-1\r\n", "not a 64-bit integer", 1},
    {":1 \r\n", "not a 64-bit integer", 1},
    {": 1\r\n", "not a 64-bit integer", 1},
    {":0x1\r\n", "not a 64-bit integer", 1},
    {":1.0\r\n", "not a 64-bit integer", 1},
    {":9223372036854775808\r\n", "not a 64-bit integer", 1},
    {":-9223372036854775809\r\n", "not a 64-bit integer", 1},
    {",\r\n", "not a number, or out of range", 1},
    {",abc\r\n", "not a number, or out of range", 1},
    {",.5\r\n", "not a number, or out of range", 1},
    {",1.5x\r\n", "not a number, or out of range", 1},
    {",+-1\r\n", "not a number, or out of range", 1},
    {",1e999\r\n", "not a number, or out of range", 1},
    {",infinity\r\n", "not a number, or out of range", 1},
    {",INF\r\n", "not a number, or out of range", 1},
    {",nan(1)\r\n", "not a number, or out of range", 1},
    {"#\r\n", "not a boolean", 1},
    {"#true\r\n", "not a boolean", 1},
    {"#T\r\n", "not a boolean", 1},
    {"(\r\n", "not a big number", 1},
    {"(-\r\n", "not a big number", 1},
    {"(12a\r\n", "not a big number", 1},
    {"_x\r\n", "null with a value", 1},
    {"$\r\n", "not a length", 1},
    {"$-2\r\n", "not a length", 1},
    {"$+1\r\n", "not a length", 1},
    {"$01\r\na\r\n", "not a length", 1},
    {"$-0\r\n", "not a length", 1},
    {"$1a\r\n", "not a length", 1},
    {"$18446744073709551616\r\n", "not a length", 1},
    {"$18446744073709551615\r\n", "bulk value too long", 1},
    {"*-2\r\n", "not a length", 1},
    {"*18446744073709551615\r\n", "too many elements", 1},
    {"%9223372036854775808\r\n", "too many elements", 1},
    {"|18446744073709551615\r\n", "too many elements", 1},
    {"!-1\r\n", "not a length", 1},
    {"=-1\r\n", "not a length", 1},
    {"%-1\r\n", "not a length", 1},
    {"~-1\r\n", "not a length", 1},
    {">-1\r\n", "not a length", 1},
    {"|-1\r\n", "not a length", 1},
    {"$?\r\n", "streamed values are not supported", 1},
    {"*?\r\n", "streamed values are not supported", 1},
    {"$2\r\nabc\r\n", "bulk value longer than announced", 6},
    {"$2\r\nab\rc", "carriage return without line feed", 7},
    {"=3\r\ntxt\r\n", "verbatim string without format", 1},
    {"=5\r\ntxt.a\r\n", "verbatim string without format", 7},
    {"*1\r\n>1\r\n+a\r\n", "push inside another value", 4},
    {"|1\r\n>1\r\n", "push inside another value", 4},
};

TEST(framer, says_what_is_wrong_and_where) {
    for (const auto& [bytes, error, position] : malformed_replies) {
        framer frames;
        EXPECT_EQ(frames.scan(bytes), framing::malformed) << bytes;
        EXPECT_EQ(frames.error(), error) << bytes;
        EXPECT_EQ(frames.error_position(), position) << bytes;
        EXPECT_EQ(frames.size(), 0U) << bytes;
    }
}

TEST(framer, finds_the_same_fault_byte_by_byte) {
    for (const auto& [bytes, error, position] : malformed_replies) {
        framer frames;
        EXPECT_EQ(trickle(frames, bytes), framing::malformed) << bytes;
        EXPECT_EQ(frames.error(), error) << bytes;
        EXPECT_EQ(frames.error_position(), position) << bytes;
    }
}

TEST(framer, stays_malformed_until_reset) {
    framer frames;
    ASSERT_EQ(frames.scan("?"), framing::malformed);
    EXPECT_EQ(frames.scan("+OK\r\n"), framing::malformed);
    frames.reset();
    EXPECT_EQ(frames.scan("+OK\r\n"), framing::complete);
    EXPECT_EQ(frames.error(), "");
}

TEST(framer, forgets_a_half_read_reply_when_reset) {
    framer frames;
    ASSERT_EQ(frames.scan("*3\r\n*2\r\n$100\r\nabc"), framing::incomplete);
    frames.reset();
    EXPECT_EQ(frames.scan(":1\r\n"), framing::complete);
    EXPECT_EQ(frames.size(), 4U);
}

TEST(framer, stays_complete_when_more_arrives) {
    framer frames;
    ASSERT_EQ(frames.scan("+OK\r\n"), framing::complete);
    EXPECT_EQ(frames.scan("+OK\r\n?"), framing::complete);
    EXPECT_EQ(frames.size(), 5U);
}

TEST(framer, never_looks_back_at_values_it_has_passed) {
    std::string bytes = "*3\r\n$5\r\nhello\r\n*2\r\n:1\r\n:2\r\n+OK";
    framer frames;
    ASSERT_EQ(frames.scan(bytes), framing::incomplete);

    const std::size_t last_value = bytes.rfind('+');
    std::fill_n(bytes.begin(), last_value, '?');
    EXPECT_EQ(frames.scan(bytes + "\r\n"), framing::complete);
}

TEST(framer, never_looks_back_along_a_line) {
    std::string bytes = "+" + std::string(100, 'x');
    framer frames;
    ASSERT_EQ(frames.scan(bytes), framing::incomplete);
    std::fill(bytes.begin() + 1, bytes.end(), '\n');
    EXPECT_EQ(frames.scan(bytes + "\r\n"), framing::complete);
}

TEST(framer, skips_the_payload_of_a_bulk_value) {
    const std::string payload(1 << 20, '\n');
    const std::string reply = "$" + std::to_string(payload.size()) + "\r\n" + payload + "\r\n";
    framer frames;
    EXPECT_EQ(trickle(frames, reply), framing::complete);  // a million calls, each a comparison
    EXPECT_EQ(frames.size(), reply.size());
}

}  // namespace
}  // namespace holdfast::resp
