#include "kinds/shared.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kinds/exclusive.hpp"
#include "kinds/owners.hpp"
#include "kinds/table.hpp"
#include "scripts/embedded.hpp"
#include "unit/support/script_words.hpp"

namespace holdfast::kinds {
namespace {

using namespace std::chrono_literals;

const keys voted{.lock = "k"};
const keys unfenced_voted{.lock = "k", .fenced = false};
const keys queued{.lock = "k", .queued = true};
const keys unfenced_queued{.lock = "k", .fenced = false, .queued = true};

claim by_me(const keys& of) { return {.of = of, .owner = "hr1:me", .ttl = 1s, .retention = 1h}; }

TEST(shared_kind, keeps_its_readers_in_the_cluster_slot_of_the_lock) {
    EXPECT_EQ(readers_key("orders:42"), "holdfast:{orders:42}:readers");
    EXPECT_EQ(readers_key("{user1}:cart"), "holdfast:readers:{user1}:cart");
}

TEST(shared_kind, asks_one_voter_to_read_or_for_a_place_in_line_in_one_script) {
    auto waits = by_me(queued);
    waits.entry = "channel 12 ";
    waits.in_line = true;
    std::string out;
    shared().acquire(out, false, waits, {.tokens = 1, .floor = 1700000000000000});
    EXPECT_EQ(out,
              call_of(scripts::shared::queue_acquire,
                      {"4", "k", "holdfast:{k}:queue", "holdfast:{k}:readers", "holdfast:{k}:fence",
                       "hr1:me", "1000", "channel 12 ", "1", "3600000", "1", "1700000000000000"}));
}

TEST(shared_kind, asks_a_voter_of_several_without_a_line) {
    std::string out;
    shared().acquire(out, false, by_me(voted), {.tokens = 1, .floor = 5});
    EXPECT_EQ(out, call_of(scripts::shared::acquire,
                           {"3", "k", "holdfast:{k}:readers", "holdfast:{k}:fence", "hr1:me",
                            "1000", "3600000", "1", "5"}));
}

TEST(shared_kind, names_no_counter_without_fencing) {
    for (const auto* of : {&unfenced_voted, &unfenced_queued}) {
        std::string out;
        shared().acquire(out, false, by_me(*of), {});
        shared().extend(out, false, by_me(*of));
        shared().linger(out, by_me(*of));
        EXPECT_EQ(out.find(":fence"), std::string::npos) << out;
    }
}

TEST(shared_kind, extends_and_tells_the_script_which_keys_it_has) {
    std::string in_line;
    shared().extend(in_line, false, by_me(queued));
    EXPECT_EQ(in_line, call_of(scripts::shared::extend,
                               {"4", "k", "holdfast:{k}:readers", "holdfast:{k}:queue",
                                "holdfast:{k}:fence", "hr1:me", "1000", "3600000", "1"}));
    std::string without;
    shared().extend(without, false, by_me(unfenced_voted));
    EXPECT_EQ(without, call_of(scripts::shared::extend,
                               {"2", "k", "holdfast:{k}:readers", "hr1:me", "1000", "", "0"}));
}

TEST(shared_kind, verifies_by_an_extension_that_extends_by_nothing) {
    std::string out;
    shared().verify(out, false, by_me(queued));
    EXPECT_EQ(out, call_of(scripts::shared::extend,
                           {"4", "k", "holdfast:{k}:readers", "holdfast:{k}:queue",
                            "holdfast:{k}:fence", "hr1:me", "0", "3600000", "1"}));
    const auto claim = by_me(queued);
    EXPECT_EQ(std::get<ownership>(shared().read_verify(resp::view(":1\r\n"), claim)),
              ownership::ours);
    EXPECT_EQ(std::get<ownership>(shared().read_verify(resp::view(":0\r\n"), claim)),
              ownership::not_ours);
}

TEST(shared_kind, releases_to_the_line_where_there_is_one) {
    std::string in_line;
    auto leaves = by_me(queued);
    leaves.entry = "channel 12 ";
    shared().release(in_line, false, leaves);
    EXPECT_EQ(in_line,
              call_of(scripts::shared::release, {"3", "k", "holdfast:{k}:readers",
                                                 "holdfast:{k}:queue", "hr1:me", "channel 12 "}));
    std::string voted_on;
    shared().release(voted_on, false, by_me(voted));
    EXPECT_EQ(voted_on,
              call_of(scripts::shared::release, {"2", "k", "holdfast:{k}:readers", "hr1:me", ""}));
}

TEST(shared_kind, commits_the_token_that_several_voters_agree_on) {
    std::string out;
    shared().commit(out, false, by_me(voted), {42});
    EXPECT_EQ(out,
              call_of(scripts::shared::commit, {"3", "k", "holdfast:{k}:readers",
                                                "holdfast:{k}:fence", "hr1:me", "42", "3600000"}));
}

TEST(shared_kind, shares_a_key_with_readers_and_with_no_writer) {
    EXPECT_TRUE(core::compatible(shared().sharing(), shared().sharing()));
    EXPECT_FALSE(core::compatible(shared().sharing(), exclusive().sharing()));
    EXPECT_TRUE(shared().allowed_on(topology::one_voter));
    EXPECT_TRUE(shared().allowed_on(topology::quorum));
    EXPECT_FALSE(shared().has_shortcut(unfenced_queued));
}

TEST(shared_kind, a_writer_reads_on_under_the_same_digits) {
    EXPECT_EQ(reader_of("hf1:0123:anna@web1:1:"), "hr1:0123:anna@web1:1:");
}

TEST(shared_kind, voters_who_have_a_lock_for_different_readers_have_it_for_the_same) {
    EXPECT_TRUE(same_holders("hr1:a", "hr1:b"));
    EXPECT_TRUE(same_holders("hf1:a", "hf1:a"));
    EXPECT_FALSE(same_holders("hf1:a", "hf1:b"));
    EXPECT_FALSE(same_holders("hf1:a", "hr1:a"));
}

TEST(shared_kind, its_readers_wake_nobody_by_coming_and_going) {
    EXPECT_EQ(woken_by(readers_key("orders:42")), "");
}

}  // namespace
}  // namespace holdfast::kinds
