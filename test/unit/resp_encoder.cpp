#include "resp/encoder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::resp {
namespace {

using namespace std::string_literals;

TEST(append_command, writes_an_array_of_bulk_strings) {
    std::string out;
    append_command(out, {"SET", "key", "value"});
    EXPECT_EQ(out, "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n");
}

TEST(append_command, appends_to_what_is_there) {
    std::string out = "before";
    append_command(out, {"PING"});
    append_command(out, {"PING"});
    EXPECT_EQ(out, "before*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n");
}

TEST(append_command, takes_arguments_of_any_bytes_and_none) {
    std::string out;
    append_command(out, {"", std::string_view{"\0\r\n\xff", 4}, std::string_view{}});
    EXPECT_EQ(out, "*3\r\n$0\r\n\r\n$4\r\n\0\r\n\xff\r\n$0\r\n\r\n"s);
}

TEST(append_command, takes_a_span) {
    const std::vector<std::string_view> arguments(12, "x");
    std::string out;
    append_command(out, arguments);
    std::string expected = "*12\r\n";
    for (std::size_t i = 0; i < arguments.size(); ++i) expected += "$1\r\nx\r\n";
    EXPECT_EQ(out, expected);
}

TEST(append_command, spells_lengths_of_several_digits) {
    const std::string large(123456, 'x');
    std::string out;
    append_command(out, {"ECHO", large});
    EXPECT_EQ(out, "*2\r\n$4\r\nECHO\r\n$123456\r\n" + large + "\r\n");
}

TEST(append_command, does_not_allocate_when_the_buffer_is_large_enough) {
    std::string out;
    out.reserve(4096);
    const char* place = out.data();
    for (int request = 0; request < 50; ++request) append_command(out, {"GET", "key"});
    EXPECT_EQ(out.data(), place);
}

TEST(decimal, spells_integers_over_their_whole_range) {
    EXPECT_EQ(decimal{0}.text(), "0");
    EXPECT_EQ(decimal{-1}.text(), "-1");
    EXPECT_EQ(decimal{std::numeric_limits<std::int64_t>::min()}.text(), "-9223372036854775808");
    EXPECT_EQ(decimal{std::numeric_limits<std::int64_t>::max()}.text(), "9223372036854775807");
    EXPECT_EQ(decimal{std::numeric_limits<std::uint64_t>::max()}.text(), "18446744073709551615");
}

TEST(decimal, is_an_argument_among_others) {
    std::string out;
    append_command(out, {"PEXPIRE", "key", decimal{30000}.text()});
    EXPECT_EQ(out, "*3\r\n$7\r\nPEXPIRE\r\n$3\r\nkey\r\n$5\r\n30000\r\n");
}

}  // namespace
}  // namespace holdfast::resp
