#include "core/local_line.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>
#include <vector>

namespace holdfast::core {
namespace {

constexpr local_id alice = 1;
constexpr local_id bob = 2;
constexpr local_id carol = 3;
constexpr auto nobody = std::optional<local_id>{};

TEST(local_line, gives_the_turn_to_the_first_who_joins) {
    local_line line;
    EXPECT_TRUE(line.idle());
    EXPECT_TRUE(line.join(alice));
    EXPECT_FALSE(line.join(bob));
    EXPECT_FALSE(line.idle());
}

TEST(local_line, knows_who_would_follow_the_holder) {
    local_line line;
    line.took(alice);
    EXPECT_EQ(line.heir(), std::nullopt);
    line.join(bob);
    line.join(carol);
    EXPECT_EQ(line.heir(), (local_line::place{bob, 1}));
    line.took(bob);
    EXPECT_EQ(line.heir(), (local_line::place{carol, 2}));
    EXPECT_EQ(line.freed(alice), nobody);
    EXPECT_EQ(line.holder(), bob);
}

TEST(local_line, tells_who_came_before_whom_also_when_somebody_comes_again) {
    local_line line;
    EXPECT_EQ(line.last_arrival(), 0U);
    line.join(alice);
    line.join(bob);
    line.leave(alice);
    line.join(alice);
    EXPECT_EQ(line.heir(), (local_line::place{bob, 2}));
    EXPECT_EQ(line.last_arrival(), 3U);
    line.leave(bob);
    EXPECT_EQ(line.heir(), (local_line::place{alice, 3}));
}

TEST(local_line, counts_the_others_whether_the_caller_stands_in_it_or_not) {
    local_line line;
    EXPECT_EQ(line.others_than(alice), 0U);
    line.join(alice);
    line.join(bob);
    EXPECT_EQ(line.others_than(alice), 1U);
    EXPECT_EQ(line.others_than(carol), 2U);
}

TEST(local_line, lets_nobody_contend_while_the_process_holds_the_key) {
    local_line line;
    line.took(alice);
    EXPECT_EQ(line.holder(), alice);
    EXPECT_FALSE(line.idle());
    EXPECT_FALSE(line.join(bob));
}

TEST(local_line, serves_in_the_order_of_joining) {
    local_line line;
    EXPECT_TRUE(line.join(alice));
    EXPECT_FALSE(line.join(bob));
    EXPECT_FALSE(line.join(carol));
    line.took(alice);
    EXPECT_EQ(line.freed(alice), bob);
    line.took(bob);
    EXPECT_EQ(line.freed(bob), carol);
    line.took(carol);
    EXPECT_EQ(line.freed(carol), nobody);
    EXPECT_TRUE(line.idle());
}

TEST(local_line, takes_out_whoever_took_the_key) {
    local_line line;
    line.join(alice);
    line.join(bob);
    line.took(alice);
    EXPECT_EQ(line.leave(alice), nobody);
    EXPECT_EQ(line.freed(alice), bob);
}

TEST(local_line, moves_on_when_the_head_leaves) {
    local_line line;
    line.join(alice);
    line.join(bob);
    line.join(carol);
    EXPECT_EQ(line.leave(alice), bob);
    EXPECT_EQ(line.leave(bob), carol);
    EXPECT_EQ(line.leave(carol), nobody);
    EXPECT_TRUE(line.idle());
}

TEST(local_line, changes_no_turn_when_somebody_behind_the_head_leaves) {
    local_line line;
    line.join(alice);
    line.join(bob);
    line.join(carol);
    EXPECT_EQ(line.leave(bob), nobody);
    EXPECT_EQ(line.leave(alice), carol);
}

TEST(local_line, changes_no_turn_when_the_head_leaves_below_a_holder) {
    local_line line;
    line.took(alice);
    line.join(bob);
    line.join(carol);
    EXPECT_EQ(line.leave(bob), nobody);
    EXPECT_EQ(line.freed(alice), carol);
}

TEST(local_line, ignores_a_stranger_who_leaves) {
    local_line line;
    EXPECT_EQ(line.leave(alice), nobody);
    line.join(alice);
    EXPECT_EQ(line.leave(bob), nobody);
    EXPECT_EQ(line.leave(alice), nobody);
}

TEST(local_line, keeps_the_head_when_somebody_came_by_without_waiting) {
    local_line line;
    EXPECT_TRUE(line.join(alice));
    line.took(bob);
    EXPECT_FALSE(line.join(carol));
    EXPECT_EQ(line.freed(bob), alice);
}

TEST(local_line, ignores_a_hold_that_was_replaced_before_it_was_freed) {
    local_line line;
    line.join(carol);
    line.took(alice);
    line.took(bob);
    EXPECT_EQ(line.freed(alice), nobody);
    EXPECT_EQ(line.holder(), bob);
    EXPECT_EQ(line.freed(bob), carol);
    EXPECT_EQ(line.freed(bob), nobody);
}

// A driver that does as it is told, with waiters that join and leave as they please.
TEST(local_line, has_one_contender_at_most_and_forgets_nobody) {
    EXPECT_TRUE(rc::check([] {
        local_line line;
        std::vector<local_id> waiting;
        std::optional<local_id> turn;
        std::optional<local_id> holder;
        const auto given = [&](std::optional<local_id> next) {
            if (next) turn = next;
        };
        local_id newest = 0;
        for (const int choice : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4))) {
            if (choice == 0) {
                waiting.push_back(++newest);
                if (line.join(newest)) turn = newest;
            } else if (choice == 1 && !waiting.empty()) {
                const auto place = *rc::gen::inRange<std::size_t>(0, waiting.size());
                const auto gone = waiting[place];
                waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(place));
                if (turn == gone) turn.reset();
                given(line.leave(gone));
            } else if (choice == 2 && turn) {
                holder = turn;
                turn.reset();
                RC_ASSERT(waiting.front() == *holder);
                waiting.erase(waiting.begin());
                line.took(*holder);
            } else if (choice == 3 && holder) {
                given(line.freed(*holder));
                holder.reset();
            }
            const auto expected = holder || waiting.empty() ? nobody : waiting.front();
            RC_ASSERT(turn == expected);
        }
    }));
}

}  // namespace
}  // namespace holdfast::core
