#include <gtest/gtest.h>

#include "core/acquire.hpp"
#include "unit/core_helpers.hpp"

// How an acquire brings a majority of counters to one token before it believes that it holds.
namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using actions = acquire::actions;
using state = acquire::state;
using verdict = acquire::verdict;

constexpr actions nothing{};
constexpr actions decided{.decided = true};
constexpr auto deadline = at(10s - 102ms);

actions commit(std::uint64_t value, node_set where) {
    return {.commit_on = where, .commit = token(value)};
}
actions cleaned_up(std::size_t count) {
    return {.release_on = node_set::first(count), .decided = true};
}

/// One acquire of a ttl of 10 s, asked for at 0 s, and short ways to feed it.
struct attempt {
    explicit attempt(std::size_t count) : machine{{.nodes = count, .timing = {.ttl = 10s}}} {
        machine.start(at(0s));
    }
    actions grant(std::size_t index, std::uint64_t counter, time_point now = at(1ms)) {
        return machine.step(acquire::granted{node(index), token(counter)}, now);
    }
    actions committed(std::size_t index, std::uint64_t value, time_point now = at(2ms)) {
        return machine.step(acquire::committed{node(index), token(value)}, now);
    }
    actions disowned(std::size_t index) {
        return machine.step(acquire::disowned{node(index)}, at(2ms));
    }
    actions unknown(std::size_t index) {
        return machine.step(acquire::unknown{node(index)}, at(2ms));
    }
    actions denied(std::size_t index) {
        return machine.step(acquire::denied{node(index)}, at(2ms));
    }

    acquire machine;
};

/// Nodes 0 and 1 of three granted; node 0 is behind and was sent the commit of 9.
attempt committing_on_three() {
    attempt made{3};
    made.grant(0, 7);
    made.grant(1, 9);
    return made;
}

/// Nodes 0 and 1 of five stand at 9; node 2 is behind and was sent the commit.
attempt committing_on_five() {
    attempt made{5};
    made.grant(0, 9);
    made.grant(1, 9);
    made.grant(2, 7);
    return made;
}

TEST(acquire_commit, takes_one_round_when_the_counters_agree) {
    for (const std::size_t count : {1U, 3U, 5U, 7U}) {
        attempt made{count};
        actions last;
        for (std::size_t i = 0; i < majority(count); ++i) last = made.grant(i, 42);
        EXPECT_EQ(last, decided);
        EXPECT_EQ(made.machine.token(), token(42));
    }
}

TEST(acquire_commit, sends_the_largest_counter_to_those_behind) {
    attempt made{5};
    EXPECT_EQ(made.grant(0, 7), nothing);
    EXPECT_EQ(made.grant(3, 9), nothing);
    EXPECT_EQ(made.grant(4, 8), commit(9, nodes({0, 4})));
    EXPECT_EQ(made.machine.current(), state::committing);
    EXPECT_EQ(made.machine.outcome(), verdict::none);
    EXPECT_EQ(made.machine.token(), token(9));
}

TEST(acquire_commit, holds_once_a_majority_is_committed) {
    attempt made{5};
    made.grant(0, 7);
    made.grant(3, 9);
    made.grant(4, 8);
    EXPECT_EQ(made.committed(0, 9), nothing);
    EXPECT_EQ(made.machine.current(), state::committing);
    EXPECT_EQ(made.committed(4, 9), decided);
    EXPECT_EQ(made.machine.current(), state::held);
    EXPECT_EQ(made.machine.outcome(), verdict::held);
    EXPECT_EQ(made.machine.token(), token(9));
}

TEST(acquire_commit, looks_at_the_clock_when_the_last_commit_ends) {
    auto late = committing_on_three();
    EXPECT_EQ(late.committed(0, 9, deadline), cleaned_up(3));
    EXPECT_EQ(late.machine.outcome(), verdict::too_late);
    auto in_time = committing_on_three();
    EXPECT_EQ(in_time.committed(0, 9, deadline - 1ns), decided);
    EXPECT_EQ(in_time.machine.outcome(), verdict::held);
}

TEST(acquire_commit, needs_no_commit_if_a_straggler_agrees_with_the_token_first) {
    auto made = committing_on_three();
    EXPECT_EQ(made.grant(2, 9), decided);
    EXPECT_EQ(made.machine.token(), token(9));
    EXPECT_EQ(made.committed(0, 9), nothing);
    EXPECT_EQ(made.machine.granted_by(), node_set::first(3));
}

TEST(acquire_commit, does_not_send_a_commit_twice) {
    auto made = committing_on_five();
    EXPECT_EQ(made.denied(3), nothing);
    EXPECT_EQ(made.unknown(4), nothing);
    EXPECT_EQ(made.committed(2, 9), decided);
}

TEST(acquire_commit, commits_to_a_straggler_that_is_behind) {
    auto made = committing_on_five();
    EXPECT_EQ(made.grant(3, 5), commit(9, nodes({3})));
    EXPECT_EQ(made.committed(3, 9), decided);
}

TEST(acquire_commit, raises_the_token_to_a_straggler_that_is_ahead) {
    auto made = committing_on_five();
    EXPECT_EQ(made.grant(3, 20), commit(20, nodes({0, 1, 2})));
    EXPECT_EQ(made.machine.token(), token(20));
    EXPECT_EQ(made.committed(0, 20), nothing);
    EXPECT_EQ(made.committed(1, 20), decided);
    EXPECT_EQ(made.machine.token(), token(20));
}

TEST(acquire_commit, does_not_count_the_commit_of_an_older_token) {
    auto made = committing_on_three();
    EXPECT_EQ(made.grant(2, 20), commit(20, nodes({0, 1})));
    EXPECT_EQ(made.committed(0, 9), nothing);
    EXPECT_EQ(made.machine.current(), state::committing);
    EXPECT_EQ(made.committed(0, 20), decided);
    EXPECT_EQ(made.machine.token(), token(20));
}

TEST(acquire_commit, does_not_sink_below_what_a_node_committed_already) {
    auto made = committing_on_five();
    made.grant(3, 20);
    EXPECT_EQ(made.committed(2, 20), nothing);
    EXPECT_EQ(made.committed(2, 9), nothing);
    EXPECT_EQ(made.committed(0, 20), decided);
}

TEST(acquire_commit, drops_a_node_that_has_another_owner_by_now) {
    auto made = committing_on_five();
    EXPECT_EQ(made.disowned(2), nothing);
    EXPECT_EQ(made.machine.granted_by(), nodes({0, 1}));
    EXPECT_EQ(made.machine.denied_by(), nodes({2}));
    EXPECT_EQ(made.machine.current(), state::committing);
    EXPECT_EQ(made.grant(3, 9), decided);
}

TEST(acquire_commit, never_counts_a_disowned_node_again) {
    auto made = committing_on_three();
    EXPECT_EQ(made.disowned(0), nothing);
    EXPECT_EQ(made.committed(0, 9), nothing);
    EXPECT_EQ(made.machine.current(), state::committing);
    EXPECT_EQ(made.denied(2), cleaned_up(3));
    EXPECT_EQ(made.machine.outcome(), verdict::contended);
}

TEST(acquire_commit, fails_when_too_many_have_another_owner) {
    auto made = committing_on_three();
    EXPECT_EQ(made.denied(2), nothing);
    EXPECT_EQ(made.disowned(0), cleaned_up(3));
    EXPECT_EQ(made.machine.outcome(), verdict::contended);
}

TEST(acquire_commit, counts_a_silent_commit_as_neither_and_cleans_it_up) {
    auto made = committing_on_three();
    EXPECT_EQ(made.unknown(0), nothing);
    EXPECT_EQ(made.machine.current(), state::committing);
    EXPECT_EQ(made.unknown(2), cleaned_up(3));
    EXPECT_EQ(made.machine.outcome(), verdict::unreachable);
}

TEST(acquire_commit, survives_a_silent_commit_if_a_straggler_makes_up_for_it) {
    auto made = committing_on_three();
    EXPECT_EQ(made.unknown(0), nothing);
    EXPECT_EQ(made.grant(2, 9), decided);
}

TEST(acquire_commit, commits_to_those_behind_that_came_while_it_had_no_majority) {
    attempt made{5};
    made.grant(0, 9);
    made.grant(1, 7);
    made.grant(2, 7);
    made.disowned(1);
    EXPECT_EQ(made.disowned(2), nothing);
    EXPECT_EQ(made.grant(3, 8), nothing);
    EXPECT_EQ(made.grant(4, 30), commit(30, nodes({0, 3})));
    EXPECT_EQ(made.committed(3, 30), nothing);
    EXPECT_EQ(made.committed(0, 30), decided);
    EXPECT_EQ(made.machine.token(), token(30));
}

TEST(acquire_commit, fails_everywhere_when_cancelled_while_committing) {
    auto made = committing_on_five();
    EXPECT_EQ(made.machine.step(acquire::cancelled{}, at(2ms)), cleaned_up(5));
    EXPECT_EQ(made.machine.outcome(), verdict::cancelled);
    EXPECT_EQ(made.committed(2, 9), nothing);
    EXPECT_EQ(made.disowned(2), nothing);
    EXPECT_EQ(made.machine.outcome(), verdict::cancelled);
}

TEST(acquire_commit, brings_up_a_straggler_that_is_behind_when_it_holds_already) {
    attempt made{3};
    made.grant(0, 9);
    made.grant(1, 9);
    EXPECT_EQ(made.grant(2, 4), commit(9, nodes({2})));
    EXPECT_EQ(made.machine.current(), state::held);
    EXPECT_EQ(made.machine.granted_by(), node_set::first(3));
    EXPECT_EQ(made.committed(2, 9), nothing);
}

TEST(acquire_commit, leaves_a_straggler_alone_that_is_level_or_ahead_when_it_holds_already) {
    attempt made{5};
    made.grant(0, 9);
    made.grant(1, 9);
    made.grant(2, 9);
    EXPECT_EQ(made.grant(3, 9), nothing);
    EXPECT_EQ(made.grant(4, 50), nothing);
    EXPECT_EQ(made.machine.token(), token(9));
}

TEST(acquire_commit, asks_for_no_commit_without_fencing) {
    attempt made{3};
    made.grant(0, 0);
    EXPECT_EQ(made.grant(1, 0), decided);
    EXPECT_EQ(made.grant(2, 0), nothing);
}

TEST(acquire_commit, still_releases_where_it_stands_when_the_others_belong_to_somebody_else) {
    auto made = committing_on_three();
    EXPECT_EQ(made.grant(2, 20), commit(20, nodes({0, 1})));
    EXPECT_EQ(made.disowned(0), nothing);
    EXPECT_EQ(made.disowned(1), cleaned_up(3));
    EXPECT_EQ(made.machine.outcome(), verdict::contended);
}

}  // namespace
}  // namespace holdfast::core
