// However its bytes are cut, a command is the same one.

#include <gtest/gtest.h>

#include "scripts/embedded.hpp"
#include "sim/test/both_servers.hpp"

namespace holdfast::sim {
namespace {

constexpr keyspace::wall_time now{1'700'000'000'000'000};

batch conversation() {
    const std::string acquire(scripts::exclusive::acquire.text);
    const std::string digest(scripts::exclusive::acquire.sha1);
    return {{"HELLO", "3"},
            {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"},
            {"SET", "k", std::string("a\r\n$3\r\n\0b", 10)},
            {"SCRIPT", "LOAD", acquire},
            {"CLIENT", "CACHING", "YES"},
            {"EVALSHA", digest, "2", "k", "f", "me", "1000", "5000", "1", "0"},
            {"nothing", "at all"},
            {"FLUSHALL"},
            {"PING", ""}};
}

struct one_server {
    recorder out;
    script_library scripts;
    server subject{out, scripts, {}, 1};
    server::connection here = subject.open();

    std::string answer(std::initializer_list<std::string_view> pieces) {
        for (const auto piece : pieces) subject.receive(here, piece, now);
        return out.written[here];
    }
};

TEST(commands_in_pieces, are_answered_as_in_one_wherever_they_are_cut) {
    const auto bytes = encoded(conversation());
    const std::string_view all(bytes);
    const auto whole = one_server{}.answer({all});
    ASSERT_NE(whole.find("+OK"), whole.npos);
    script_library scripts;  // for all of them: to compile takes longer than the rest
    for (std::size_t cut = 0; cut <= all.size(); ++cut) {
        recorder out;
        server subject(out, scripts, {}, 1);
        const auto here = subject.open();
        subject.receive(here, all.substr(0, cut), now);
        subject.receive(here, all.substr(cut), now);
        ASSERT_EQ(out.written[here], whole) << "cut at " << cut;
    }
}

TEST(commands_in_pieces, are_answered_as_in_one_byte_by_byte) {
    const auto bytes = encoded(conversation());
    const std::string_view all(bytes);
    one_server split;
    for (std::size_t i = 0; i < all.size(); ++i)
        split.subject.receive(split.here, all.substr(i, 1), now);
    EXPECT_EQ(split.out.written[split.here], one_server{}.answer({all}));
}

TEST(commands_in_pieces, are_malformed_at_the_byte_that_shows_it) {
    one_server one;
    EXPECT_EQ(one.answer({"*1\r\n:4\r"}), "");
    EXPECT_EQ(one.answer({"\n"}), "-ERR Protocol error: expected '$', got ':'\r\n<closed>");
}

// A real server says the same, if it gets to see no line end.
TEST(commands_in_pieces, are_malformed_where_a_line_does_not_end) {
    const std::string digits(70000, '1');
    EXPECT_EQ(one_server{}.answer({"*", digits}),
              "-ERR Protocol error: too big mbulk count string\r\n<closed>");
    EXPECT_EQ(one_server{}.answer({"*1\r\n$", digits}),
              "-ERR Protocol error: too big bulk count string\r\n<closed>");
}

}  // namespace
}  // namespace holdfast::sim
