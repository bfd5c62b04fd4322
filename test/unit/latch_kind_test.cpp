#include "kinds/latch.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "scripts/embedded.hpp"

namespace holdfast::kinds {
namespace {

using namespace std::chrono_literals;

std::string text_of(const scripts::script& which, const std::vector<std::string>& rest) {
    std::string out = "*" + std::to_string(rest.size() + 2) + "\r\n";
    const auto word = [&](std::string_view text) {
        ((out += "$" + std::to_string(text.size()) + "\r\n") += text) += "\r\n";
    };
    word("EVAL");
    word(which.text);
    for (const auto& each : rest) word(each);
    return out;
}

TEST(latch_kind, names_what_tells_of_it_and_knows_it_again) {
    EXPECT_EQ(latch_key("batch"), "holdfast:{batch}:latch");
    EXPECT_EQ(latch_key("{user1}:batch"), "holdfast:latch:{user1}:batch");
    for (const auto* name : {"batch", "{user1}:batch", "a}b", "{}x"}) {
        EXPECT_EQ(latch_of(latch_key(name)), name);
    }
    for (const auto* other :
         {"batch", "holdfast:{batch}:fence", "holdfast:{}:latch", "holdfast:"}) {
        EXPECT_EQ(latch_of(other), "") << other;
    }
}

TEST(latch_kind, asks_by_text) {
    const latch_claim which{.name = "k", .count = 3, .ttl = 2s, .set_by = "me"};
    std::string out;
    look_at_latch(out, which);
    EXPECT_EQ(out,
              text_of(scripts::latch::look, {"2", "k", "holdfast:{k}:latch", "3", "2000", "me"}));
    out.clear();
    count_down(out, which, "shard-1");
    EXPECT_EQ(out, text_of(scripts::latch::count_down,
                           {"2", "k", "holdfast:{k}:latch", "3", "2000", "me", "shard-1"}));
}

TEST(latch_kind, answers_are_read) {
    const auto found = read_latch(resp::view("*3\r\n:2\r\n:1500\r\n$2\r\nme\r\n"));
    ASSERT_TRUE(std::holds_alternative<latch_found>(found));
    EXPECT_EQ(std::get<latch_found>(found).left, 2U);
    EXPECT_EQ(std::get<latch_found>(found).remaining, 1500ms);
    EXPECT_EQ(std::get<latch_found>(found).set_by, "me");
    EXPECT_TRUE(std::holds_alternative<latch_missing>(read_latch(resp::view("*1\r\n:-1\r\n"))));
    const auto other = read_latch(resp::view("*2\r\n:-2\r\n:5\r\n"));
    ASSERT_TRUE(std::holds_alternative<latch_of_another_count>(other));
    EXPECT_EQ(std::get<latch_of_another_count>(other).count, 5U);
}

TEST(latch_kind, nothing_else_is_an_answer_and_least_of_all_an_open_latch) {
    for (const auto* reply : {":0\r\n", "_\r\n", "*0\r\n", "*1\r\n:0\r\n", "*2\r\n:0\r\n:5\r\n",
                              "*3\r\n:-1\r\n:5\r\n$2\r\nme\r\n", "*3\r\n:0\r\n:5\r\n:6\r\n",
                              "+OK\r\n", "$1\r\n0\r\n", "-ERR no\r\n"}) {
        EXPECT_TRUE(std::holds_alternative<net::failure>(read_latch(resp::view(reply)))) << reply;
    }
}

}  // namespace
}  // namespace holdfast::kinds
