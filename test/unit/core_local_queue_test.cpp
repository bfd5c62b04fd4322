#include "core/local_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

namespace holdfast::core {
namespace {

constexpr local_id alice = 1;
constexpr local_id bob = 2;
constexpr local_id carol = 3;
constexpr auto nobody = std::optional<local_id>{};

TEST(local_queue, gives_the_turn_to_the_first_who_joins) {
    local_queue line;
    EXPECT_TRUE(line.idle());
    EXPECT_TRUE(line.join(alice));
    EXPECT_FALSE(line.join(bob));
    EXPECT_FALSE(line.idle());
}

TEST(local_queue, knows_who_would_follow_the_holder) {
    local_queue line;
    line.took(alice);
    EXPECT_EQ(line.next(), std::nullopt);
    line.join(bob);
    line.join(carol);
    EXPECT_EQ(line.next(), (local_queue::place{bob, 1}));
    line.took(bob);
    EXPECT_EQ(line.next(), (local_queue::place{carol, 2}));
    EXPECT_EQ(line.freed(alice), nobody);
    EXPECT_TRUE(line.holds(bob));
}

TEST(local_queue, tells_who_came_before_whom_also_when_somebody_comes_again) {
    local_queue line;
    EXPECT_EQ(line.last_arrival(), 0U);
    line.join(alice);
    line.join(bob);
    line.leave(alice);
    line.join(alice);
    EXPECT_EQ(line.next(), (local_queue::place{bob, 2}));
    EXPECT_EQ(line.last_arrival(), 3U);
    line.leave(bob);
    EXPECT_EQ(line.next(), (local_queue::place{alice, 3}));
}

TEST(local_queue, counts_the_others_whether_the_caller_stands_in_it_or_not) {
    local_queue line;
    EXPECT_EQ(line.others_than(alice), 0U);
    line.join(alice);
    line.join(bob);
    EXPECT_EQ(line.others_than(alice), 1U);
    EXPECT_EQ(line.others_than(carol), 2U);
}

TEST(local_queue, lets_a_writer_stand_in_line_at_the_server_behind_readers_of_the_process) {
    constexpr sharing reads{1, 1};
    local_queue voted;
    voted.took(alice, reads);
    EXPECT_FALSE(voted.join(bob)) << "no server keeps a line";
    local_queue line(true);
    line.took(alice, reads);
    EXPECT_TRUE(line.join(bob)) << "or others would go on joining the readers";
    EXPECT_EQ(line.freed(alice), nobody) << "it has its turn already";
    line.took(bob);
    EXPECT_FALSE(line.join(carol)) << "who shares with nobody is waited for here";
}

TEST(local_queue, lets_nobody_contend_while_the_process_holds_the_key) {
    local_queue line;
    line.took(alice);
    EXPECT_TRUE(line.holds(alice));
    EXPECT_FALSE(line.idle());
    EXPECT_FALSE(line.join(bob));
}

TEST(local_queue, serves_in_the_order_of_joining) {
    local_queue line;
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

TEST(local_queue, takes_out_whoever_took_the_key) {
    local_queue line;
    line.join(alice);
    line.join(bob);
    line.took(alice);
    EXPECT_EQ(line.leave(alice), nobody);
    EXPECT_EQ(line.freed(alice), bob);
}

TEST(local_queue, moves_on_when_the_head_leaves) {
    local_queue line;
    line.join(alice);
    line.join(bob);
    line.join(carol);
    EXPECT_EQ(line.leave(alice), bob);
    EXPECT_EQ(line.leave(bob), carol);
    EXPECT_EQ(line.leave(carol), nobody);
    EXPECT_TRUE(line.idle());
}

TEST(local_queue, changes_no_turn_when_somebody_behind_the_head_leaves) {
    local_queue line;
    line.join(alice);
    line.join(bob);
    line.join(carol);
    EXPECT_EQ(line.leave(bob), nobody);
    EXPECT_EQ(line.leave(alice), carol);
}

TEST(local_queue, changes_no_turn_when_the_head_leaves_below_a_holder) {
    local_queue line;
    line.took(alice);
    line.join(bob);
    line.join(carol);
    EXPECT_EQ(line.leave(bob), nobody);
    EXPECT_EQ(line.freed(alice), carol);
}

TEST(local_queue, ignores_a_stranger_who_leaves) {
    local_queue line;
    EXPECT_EQ(line.leave(alice), nobody);
    line.join(alice);
    EXPECT_EQ(line.leave(bob), nobody);
    EXPECT_EQ(line.leave(alice), nobody);
}

TEST(local_queue, keeps_the_head_when_somebody_came_by_without_waiting) {
    local_queue line;
    EXPECT_TRUE(line.join(alice));
    line.took(bob);
    EXPECT_FALSE(line.join(carol));
    EXPECT_EQ(line.freed(bob), alice);
}

TEST(local_queue, ignores_a_hold_that_was_replaced_before_it_was_freed) {
    local_queue line;
    line.join(carol);
    line.took(alice);
    line.took(bob);
    EXPECT_EQ(line.freed(alice), nobody);
    EXPECT_TRUE(line.holds(bob));
    EXPECT_EQ(line.freed(bob), carol);
    EXPECT_EQ(line.freed(bob), nobody);
}

constexpr sharing reader{1, 1};

TEST(local_queue, lets_those_share_the_key_who_can) {
    local_queue line;
    EXPECT_TRUE(line.join(alice, reader));
    EXPECT_FALSE(line.join(bob, reader));
    EXPECT_EQ(line.took(alice, reader), bob);
    EXPECT_EQ(line.took(bob, reader), nobody);
    EXPECT_TRUE(line.holds(alice));
    EXPECT_TRUE(line.holds(bob));
    EXPECT_EQ(line.holders(), 2U);
    EXPECT_TRUE(line.join(carol, reader));
}

TEST(local_queue, lets_one_who_shares_with_nobody_wait_for_all_of_them) {
    local_queue line;
    line.took(alice, reader);
    line.took(bob, reader);
    EXPECT_FALSE(line.join(carol));
    EXPECT_EQ(line.freed(alice), nobody);
    EXPECT_EQ(line.freed(bob), carol);
}

TEST(local_queue, lets_nobody_pass_a_head_that_has_to_wait) {
    constexpr local_id dave = 4;
    local_queue line;
    line.took(alice, reader);
    EXPECT_FALSE(line.join(bob));
    EXPECT_FALSE(line.join(carol, reader));
    EXPECT_EQ(line.leave(bob), carol) << "who could have shared with alice all the time";
    EXPECT_FALSE(line.join(dave, reader));
    EXPECT_EQ(line.freed(alice), nobody) << "it was carol's turn before";
}

TEST(local_queue, forgets_holders_that_a_new_one_cannot_share_with) {
    local_queue line;
    line.took(alice, reader);
    line.took(bob, reader);
    line.took(carol);
    EXPECT_EQ(line.holders(), 1U);
    EXPECT_EQ(line.freed(alice), nobody);
    EXPECT_TRUE(line.holds(carol));
    EXPECT_FALSE(line.join(bob, reader));
    EXPECT_EQ(line.took(alice, reader), bob) << "carol's is over, and readers share";
}

TEST(local_queue, needs_memory_for_further_holders_alone) {
    local_queue line;
    line.reserve(reader);
    line.took(alice, reader);
    line.reserve(reader);
    line.took(bob, reader);
    line.freed(alice);
    EXPECT_TRUE(line.holds(bob));
    EXPECT_EQ(line.holders(), 1U);
}

TEST(sharing, wants_both_to_put_up_with_each_other) {
    constexpr sharing upgradable{2, 1};
    constexpr sharing tolerant_reader{1, 3};
    EXPECT_TRUE(compatible(reader, reader));
    EXPECT_FALSE(compatible(reader, upgradable));
    EXPECT_TRUE(compatible(tolerant_reader, upgradable));
    EXPECT_FALSE(compatible(upgradable, upgradable));
    EXPECT_FALSE(compatible(alone, reader));
    EXPECT_FALSE(compatible(alone, alone));
}

// A driver that does as it is told, with readers and writers that join and leave as they please.
TEST(local_queue, gives_the_turn_to_a_head_that_no_holder_keeps_out_and_to_nobody_else) {
    EXPECT_TRUE(rc::check([] {
        struct each {
            local_id who;
            sharing how;
        };
        local_queue line;
        std::vector<each> waiting;
        std::vector<each> holding;
        std::optional<local_id> turn;
        local_id newest = 0;
        const auto given = [&](std::optional<local_id> next) {
            if (next) turn = next;
        };
        const auto keeps_out = [&](const each& other) {
            return !compatible(other.how, waiting.front().how);
        };
        for (const int choice : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 5))) {
            if (choice < 2) {
                waiting.push_back({++newest, choice == 0 ? reader : alone});
                if (line.join(newest, waiting.back().how)) turn = newest;
            } else if (choice == 2 && !waiting.empty()) {
                const auto place = *rc::gen::inRange<std::size_t>(0, waiting.size());
                const auto gone = waiting[place].who;
                waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(place));
                if (turn == gone) turn.reset();
                given(line.leave(gone));
            } else if (choice == 3 && turn) {
                RC_ASSERT(waiting.front().who == *turn);
                turn.reset();
                holding.push_back(waiting.front());
                waiting.erase(waiting.begin());
                given(line.took(holding.back().who, holding.back().how));
            } else if (choice == 4 && !holding.empty()) {
                const auto place = *rc::gen::inRange<std::size_t>(0, holding.size());
                const auto gone = holding[place].who;
                holding.erase(holding.begin() + static_cast<std::ptrdiff_t>(place));
                given(line.freed(gone));
            }
            const bool free =
                !waiting.empty() && std::none_of(holding.begin(), holding.end(), keeps_out);
            RC_ASSERT(turn == (free ? std::optional{waiting.front().who} : nobody));
            RC_ASSERT(line.holders() == holding.size());
        }
    }));
}

// A driver that does as it is told, with waiters that join and leave as they please.
TEST(local_queue, has_one_contender_at_most_and_forgets_nobody) {
    EXPECT_TRUE(rc::check([] {
        local_queue line;
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
