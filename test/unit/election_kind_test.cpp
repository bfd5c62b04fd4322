#include "kinds/election.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kinds/exclusive.hpp"
#include "kinds/owners.hpp"
#include "scripts/embedded.hpp"

namespace holdfast::kinds {
namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

const keys voted{.lock = "k"};
const keys queued{.lock = "k", .queued = true};

/// A script by its text, with everything that follows, as words.
std::string text_of(const scripts::script& which, const words& rest) {
    std::string out = "*" + std::to_string(rest.size() + 2) + "\r\n";
    const auto word = [&](std::string_view text) {
        ((out += "$" + std::to_string(text.size()) + "\r\n") += text) += "\r\n";
    };
    word("EVAL");
    word(which.text);
    for (const auto& each : rest) word(each);
    return out;
}

claim by_me(const keys& of) {
    return {.of = of, .owner = "he1:me", .ttl = 1s, .retention = 1h, .note = "10.0.0.7:80"};
}

TEST(election_kind, notes_who_leads_in_the_cluster_slot_of_the_lock) {
    EXPECT_EQ(leader_key("orders:42"), "holdfast:{orders:42}:leader");
    EXPECT_EQ(leader_key("{user1}:cart"), "holdfast:leader:{user1}:cart");
}

TEST(election_kind, asks_one_voter_with_the_value_behind_what_an_exclusive_lock_says) {
    auto waits = by_me(queued);
    waits.entry = "channel 12 ";
    waits.in_line = true;
    std::string out;
    election().acquire(out, false, waits, {.tokens = 1, .floor = 17});
    EXPECT_EQ(out,
              text_of(scripts::election::queue_acquire,
                      {"4", "k", "holdfast:{k}:queue", "holdfast:{k}:fence", "holdfast:{k}:leader",
                       "he1:me", "1000", "3600000", "1", "17", "channel 12 ", "1", "10.0.0.7:80"}));
}

TEST(election_kind, says_an_empty_value_too_since_the_last_argument_is_taken_for_it) {
    auto first = by_me(queued);
    first.note = {};
    std::string out;
    election().acquire(out, false, first, {.tokens = 1, .floor = 17});
    EXPECT_EQ(out, text_of(scripts::election::queue_acquire,
                           {"4", "k", "holdfast:{k}:queue", "holdfast:{k}:fence",
                            "holdfast:{k}:leader", "he1:me", "1000", "3600000", "1", "17", ""}));
}

TEST(election_kind, asks_a_voter_of_several_and_tells_it_the_term_in_the_end) {
    std::string out;
    election().acquire(out, false, by_me(voted), {.tokens = 1, .floor = 17});
    EXPECT_EQ(out, text_of(scripts::election::acquire,
                           {"3", "k", "holdfast:{k}:fence", "holdfast:{k}:leader", "he1:me", "1000",
                            "3600000", "1", "17", "10.0.0.7:80"}));
    out.clear();
    election().commit(out, false, by_me(voted), {42});
    EXPECT_EQ(out, text_of(scripts::election::commit,
                           {"3", "k", "holdfast:{k}:fence", "holdfast:{k}:leader", "he1:me", "42",
                            "3600000", "10.0.0.7:80"}));
}

TEST(election_kind, resigns_with_the_note) {
    std::string out;
    election().release(out, false, by_me(queued));
    EXPECT_EQ(out, text_of(scripts::election::queue_release,
                           {"3", "k", "holdfast:{k}:queue", "holdfast:{k}:leader", "he1:me"}));
    out.clear();
    auto leaves = by_me(queued);
    leaves.entry = "channel 12 ";
    election().release(out, false, leaves);
    EXPECT_EQ(out, text_of(scripts::election::queue_release,
                           {"3", "k", "holdfast:{k}:queue", "holdfast:{k}:leader", "he1:me",
                            "channel 12 "}));
    out.clear();
    election().release(out, false, by_me(voted));
    EXPECT_EQ(out,
              text_of(scripts::election::release, {"2", "k", "holdfast:{k}:leader", "he1:me"}));
}

TEST(election_kind, renews_as_an_exclusive_lock_does_and_touches_nothing_else) {
    std::string mine;
    std::string theirs;
    election().extend(mine, false, by_me(queued));
    exclusive().extend(theirs, false, by_me(queued));
    EXPECT_EQ(mine, theirs);
}

TEST(election_kind, costs_connections_nothing_and_passes_no_queue) {
    EXPECT_TRUE(election().loads(topology::one_voter).empty());
    EXPECT_TRUE(election().loads(topology::quorum).empty());
    EXPECT_FALSE(election().has_shortcut(queued));
    EXPECT_TRUE(election().allowed_on(topology::quorum));
    EXPECT_FALSE(core::compatible(election().sharing(), exclusive().sharing()));
}

TEST(election_kind, a_note_is_read_with_any_value) {
    const auto found = read_note("17\nhe1:me\n10.0.0.7:80\nand more");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->term, 17U);
    EXPECT_EQ(found->owner, "he1:me");
    EXPECT_EQ(found->value, "10.0.0.7:80\nand more");
    EXPECT_EQ(read_note("17\nhe1:me\n")->value, "");
}

TEST(election_kind, what_is_no_note_is_none) {
    for (const auto* text :
         {"", "17", "17\nhe1:me", "x\nhe1:me\n", "0\nhe1:me\n", "-1\nhe1:me\n", "17 \nhe1:me\n",
          "17\nsomebody\n", "\nhe1:me\n", "99999999999999999999\nhe1:me\n"}) {
        EXPECT_FALSE(read_note(text)) << text;
    }
}

}  // namespace
}  // namespace holdfast::kinds
