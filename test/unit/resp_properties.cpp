// What must hold for all replies, checked on random ones: trees of values are spelled out as bytes,
// cut at random places, and must come back as the same trees.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "resp/encoder.hpp"
#include "resp/framer.hpp"
#include "resp/view.hpp"
#include "unit/resp_trees.hpp"

namespace holdfast::resp {
namespace {

using test::bytes_of;
using test::spell;
using test::spelled;
using test::tree;
using test::trees;

using cuts = std::vector<std::size_t>;  // sizes of successive reads, over and over

rc::Gen<cuts> any_cuts() {
    return rc::gen::nonEmpty(rc::gen::container<cuts>(rc::gen::inRange<std::size_t>(1, 24)));
}

/// Bytes that get further into the framer than noise would.
rc::Gen<std::string> almost_replies() {
    const auto piece = rc::gen::oneOf(
        rc::gen::element<std::string>("*", "$", "%", "|", ">", "~", ":", "+", "-", "_", ",", "#",
                                      "!", "=", "(", "0", "1", "2", "4", "10", "-1", "?", "t",
                                      "txt:", "1e9", "\r", "\n", "\r\n", "\r\n", "\r\n"),
        rc::gen::element<std::string>("*2\r\n", "%1\r\n", "|1\r\n", ">1\r\n", ":1\r\n", "_\r\n",
                                      "$2\r\nab\r\n", "=5\r\ntxt:a\r\n", "#t\r\n"),
        rc::gen::map(rc::gen::arbitrary<char>(), [](char c) { return std::string(1, c); }));
    return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                        [](const std::vector<std::string>& pieces) {
                            std::string all;
                            for (const std::string& part : pieces) all += part;
                            return all;
                        });
}

struct outcome {
    std::vector<std::string> frames;
    framing last = framing::incomplete;
    std::string error;
    std::size_t error_position = 0;

    bool operator==(const outcome&) const = default;
};

/// Reads as a connection does: appends what arrives, takes every frame that is complete.
outcome receive(std::string_view bytes, const cuts& sizes, const limits& bounds = {}) {
    outcome result;
    framer frames{bounds};
    std::string buffer;
    for (std::size_t turn = 0; !bytes.empty() && result.last == framing::incomplete; ++turn) {
        const std::size_t arrived = std::min(bytes.size(), sizes[turn % sizes.size()]);
        buffer += bytes.substr(0, arrived);
        bytes.remove_prefix(arrived);
        while ((result.last = frames.scan(buffer)) == framing::complete) {
            result.frames.push_back(buffer.substr(0, frames.size()));
            buffer.erase(0, frames.size());
            frames.reset();
        }
    }
    result.error = frames.error();
    result.error_position = frames.error_position();
    return result;
}

outcome receive_at_once(std::string_view bytes, const limits& bounds = {}) {
    return receive(bytes, {bytes.size() + 1}, bounds);
}

void assert_same(const tree& expected, const view& seen) {
    constexpr std::string_view type_bytes = "+-:$*_,#!=(%~>";  // in the order of enum class kind
    RC_ASSERT(type_bytes[static_cast<std::size_t>(seen.kind())] == expected.type);
    switch (expected.type) {
        case ':': RC_ASSERT(std::to_string(seen.integer().value()) == expected.text); break;
        case ',': RC_ASSERT(spelled(seen.number().value()) == expected.text); break;
        case '#': RC_ASSERT(seen.boolean() == (expected.text == "t")); break;
        default: RC_ASSERT(seen.text() == expected.text); break;
    }
    RC_ASSERT(seen.size() == expected.children.size());
    std::size_t index = 0;
    for (const view child : seen) {
        RC_ASSERT(index < expected.children.size());
        assert_same(expected.children[index], child);
        assert_same(expected.children[index], seen.at(index).value());
        ++index;
    }
    RC_ASSERT(index == expected.children.size());
}

void walk(const view& value) {
    static_cast<void>(value.text());
    static_cast<void>(value.as_integer());
    static_cast<void>(value.number());
    static_cast<void>(value.boolean());
    for (const view child : value) walk(child);
}

TEST(resp_properties, any_replies_come_back_whole_however_they_are_cut) {
    EXPECT_TRUE(rc::check("replies survive the wire", [] {
        const auto sent = *rc::gen::container<std::vector<tree>>(trees());
        const cuts sizes = *any_cuts();
        std::string wire;
        for (const tree& value : sent) spell(value, wire);

        const outcome received = receive(wire, sizes);

        RC_ASSERT(received.error == "");
        RC_ASSERT(received.frames.size() == sent.size());
        for (std::size_t i = 0; i < sent.size(); ++i) {
            RC_ASSERT(received.frames[i] == bytes_of(sent[i]));
            assert_same(sent[i], view{received.frames[i]});
        }
    }));
}

TEST(resp_properties, a_part_of_a_reply_is_never_a_reply) {
    EXPECT_TRUE(rc::check("no proper prefix is complete", [] {
        const std::string wire = bytes_of(*trees());
        const auto size = *rc::gen::inRange<std::size_t>(0, wire.size());
        RC_ASSERT(framer{}.scan(std::string_view{wire}.substr(0, size)) == framing::incomplete);
    }));
}

TEST(resp_properties, the_verdict_on_any_bytes_does_not_depend_on_the_cuts) {
    EXPECT_TRUE(rc::check("cuts do not matter", [] {
        const std::string wire = *almost_replies();
        const limits tight{
            .depth = 2, .elements = 4, .bulk_bytes = 8, .line_bytes = 4, .reply_bytes = 24};
        const cuts sizes = *any_cuts();
        RC_ASSERT(receive(wire, sizes) == receive_at_once(wire));
        RC_ASSERT(receive(wire, sizes, tight) == receive_at_once(wire, tight));
    }));
}

TEST(resp_properties, one_byte_changed_is_read_the_same_however_it_is_cut) {
    EXPECT_TRUE(rc::check("cuts do not matter to damaged replies", [] {
        std::string wire = bytes_of(*trees()) + bytes_of(*trees());
        wire[*rc::gen::inRange<std::size_t>(0, wire.size())] = *rc::gen::arbitrary<char>();
        const outcome received = receive(wire, *any_cuts());
        RC_ASSERT(received == receive_at_once(wire));
        for (const std::string& frame : received.frames) walk(view{frame});
    }));
}

TEST(resp_properties, any_bytes_can_be_viewed) {
    EXPECT_TRUE(rc::check("views stay inside their bytes", [] {
        const std::string wire = *almost_replies();
        const auto limit = *rc::gen::inRange<std::size_t>(0, 64);
        walk(view{wire});
        const std::string text = to_string(view{wire}, limit);
        RC_ASSERT(text.size() <= limit + 4);
        for (const char c : text) RC_ASSERT(c >= ' ' && c <= '~');
    }));
}

TEST(resp_properties, commands_come_back_argument_by_argument) {
    EXPECT_TRUE(rc::check("commands survive the wire", [] {
        const auto arguments =
            *rc::gen::container<std::vector<std::string>>(rc::gen::arbitrary<std::string>());
        const auto last = *rc::gen::arbitrary<std::int64_t>();
        std::string out;
        const decimal last_spelled{last};
        std::vector<std::string_view> views(arguments.begin(), arguments.end());
        views.push_back(last_spelled.text());

        append_command(out, views);

        framer frames;
        RC_ASSERT(frames.scan(out) == framing::complete);
        RC_ASSERT(frames.size() == out.size());
        const view command{out};
        RC_ASSERT(command.size() == views.size());
        std::size_t index = 0;
        for (const view argument : command) RC_ASSERT(argument.text() == views[index++]);
        RC_ASSERT(command.at(views.size() - 1)->as_integer() == last);
    }));
}

}  // namespace
}  // namespace holdfast::resp
