#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>

#include "holdfast/lease.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

const std::string ours = "hf1:" + std::string(40, 'a') + ":anna@web1:4711:";

TEST(holder, is_described_by_who_and_where_it_is) {
    EXPECT_EQ(parse_owner(ours).describe(), "anna@web1, process 4711");
    EXPECT_EQ(parse_owner(ours + "nightly").describe(), "anna@web1, process 4711 (nightly)");
}

TEST(holder, that_reads_is_described_as_the_first_of_the_readers) {
    const auto reader = parse_owner("hr1:" + std::string(40, 'a') + ":anna@web1:4711:nightly");
    EXPECT_TRUE(reader.reads);
    EXPECT_FALSE(reader.foreign());
    EXPECT_EQ(reader.describe(), "readers, the first of them anna@web1, process 4711 (nightly)");
    EXPECT_FALSE(parse_owner(ours).reads);
    EXPECT_TRUE(parse_owner("hx1:" + std::string(40, 'a') + ":anna@web1:4711:").foreign());
}

TEST(holder, of_several_keys_is_described_so) {
    const auto both = parse_owner("hm1:" + std::string(40, 'a') + ":anna@web1:4711:nightly");
    EXPECT_TRUE(both.several);
    EXPECT_FALSE(both.foreign());
    EXPECT_EQ(both.describe(), "anna@web1, process 4711 (nightly), along with other keys");
    EXPECT_FALSE(parse_owner(ours).several);
}

TEST(holder, that_is_foreign_is_described_as_another_library) {
    EXPECT_EQ(parse_owner("b0e1").describe(), "another library");
}

TEST(holder, that_is_nobody_is_described_by_the_quarantine) {
    holder nobody;
    nobody.quarantine = true;
    EXPECT_EQ(nobody.describe(), "nobody: the server is in quarantine");
    nobody.remaining = 11'001ms;
    EXPECT_EQ(nobody.describe(), "nobody: the server is in quarantine for another 12s");
}

TEST(holder, cannot_command_the_terminal_that_it_is_shown_on) {
    EXPECT_EQ(parse_owner(ours + "\x1b[2J").describe(), "anna@web1, process 4711 (\\x1b[2J)");
}

TEST(acquisition, that_is_temporary_gives_its_holder_away) {
    using here = decltype(std::declval<const acquisition&>().held_by());
    using passing = decltype(std::declval<acquisition>().held_by());
    static_assert(std::is_same_v<here, const std::optional<holder>&>);
    static_assert(std::is_same_v<passing, std::optional<holder>>, "a reference would dangle");
}

}  // namespace
}  // namespace holdfast
