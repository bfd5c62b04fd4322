#include "core/acquire.hpp"

#include <gtest/gtest.h>

#include "unit/core_helpers.hpp"

// How an acquire counts votes, looks at the clock, and cleans up. Its commits are in
// core_acquire_commit_test.cpp.
namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using actions = acquire::actions;
using state = acquire::state;
using verdict = acquire::verdict;

constexpr actions nothing{};
constexpr actions decided{.decided = true};
constexpr auto deadline = at(10s - 102ms);

acquire::config config_for(std::size_t count) { return {.nodes = count, .timing = {.ttl = 10s}}; }

acquire started(std::size_t count) {
    acquire machine{config_for(count)};
    machine.start(at(0s));
    return machine;
}

actions cleaned_up(std::size_t count) {
    return {.release_on = node_set::first(count), .decided = true};
}

class acquire_quorum : public ::testing::TestWithParam<int> {
  protected:
    const std::size_t count = static_cast<std::size_t>(GetParam());
    const std::size_t quorum = majority(count);
    const std::size_t spare = count - quorum;  // how many may be missing
    acquire machine = started(count);

    actions grant(std::size_t index, std::uint64_t counter = 7, time_point now = at(1ms)) {
        return machine.step(acquire::granted{node(index), token(counter)}, now);
    }
    actions deny(std::size_t index) { return machine.step(acquire::denied{node(index)}, at(1ms)); }
    actions lose(std::size_t index) { return machine.step(acquire::unknown{node(index)}, at(1ms)); }

    void grant_all_but_one_of_the_quorum() {
        for (std::size_t i = 0; i + 1 < quorum; ++i) EXPECT_EQ(grant(i), nothing);
    }
    void expect_state(state now_in, verdict because) {
        EXPECT_EQ(machine.current(), now_in);
        EXPECT_EQ(machine.outcome(), because);
        EXPECT_EQ(machine.decided(), now_in == state::held || now_in == state::failed);
    }
};

INSTANTIATE_TEST_SUITE_P(acquire, acquire_quorum, quorum_sizes, nodes_in_name);

TEST_P(acquire_quorum, asks_every_node_at_once) {
    acquire fresh{config_for(count)};
    EXPECT_EQ(fresh.current(), state::idle);
    EXPECT_EQ(fresh.start(at(0s)), actions{.acquire_on = node_set::first(count)});
    EXPECT_EQ(fresh.current(), state::collecting);
    EXPECT_EQ(fresh.outcome(), verdict::none);
    EXPECT_EQ(fresh.started_at(), at(0s));
}

TEST_P(acquire_quorum, holds_at_the_last_grant_of_the_first_majority) {
    grant_all_but_one_of_the_quorum();
    expect_state(state::collecting, verdict::none);
    EXPECT_EQ(grant(quorum - 1), decided);
    expect_state(state::held, verdict::held);
    EXPECT_EQ(machine.token(), token(7));
    EXPECT_EQ(machine.valid_until(), deadline);
    EXPECT_EQ(machine.granted_by(), node_set::first(quorum));
}

TEST_P(acquire_quorum, holds_without_fencing_when_every_counter_is_zero) {
    for (std::size_t i = 0; i + 1 < quorum; ++i) EXPECT_EQ(grant(i, 0), nothing);
    EXPECT_EQ(grant(quorum - 1, 0), decided);
    expect_state(state::held, verdict::held);
    EXPECT_EQ(machine.token(), fencing_token{});
}

TEST_P(acquire_quorum, holds_though_a_minority_denies) {
    for (std::size_t i = 0; i < spare; ++i) EXPECT_EQ(deny(i), nothing);
    for (std::size_t i = spare; i + 1 < count; ++i) EXPECT_EQ(grant(i), nothing);
    EXPECT_EQ(grant(count - 1), decided);
    expect_state(state::held, verdict::held);
    EXPECT_EQ(machine.denied_by(), node_set::first(spare));
}

TEST_P(acquire_quorum, holds_though_a_minority_is_silent) {
    for (std::size_t i = 0; i < spare; ++i) EXPECT_EQ(lose(i), nothing);
    for (std::size_t i = spare; i + 1 < count; ++i) EXPECT_EQ(grant(i), nothing);
    EXPECT_EQ(grant(count - 1), decided);
    expect_state(state::held, verdict::held);
    EXPECT_EQ(machine.unknown_from(), node_set::first(spare));
}

TEST_P(acquire_quorum, fails_as_soon_as_a_majority_has_become_impossible) {
    for (std::size_t i = 0; i < spare; ++i) EXPECT_EQ(deny(i), nothing);
    const bool everybody = count == 1;
    EXPECT_EQ(deny(spare), everybody ? decided : cleaned_up(count));
    expect_state(state::failed, verdict::contended);
}

TEST_P(acquire_quorum, fails_as_soon_as_too_many_are_silent) {
    for (std::size_t i = 0; i < spare; ++i) EXPECT_EQ(lose(i), nothing);
    EXPECT_EQ(lose(spare), cleaned_up(count));
    expect_state(state::failed, verdict::unreachable);
}

TEST_P(acquire_quorum, releases_also_where_it_was_granted) {
    grant_all_but_one_of_the_quorum();
    for (std::size_t i = quorum - 1; i + 1 < count; ++i) EXPECT_EQ(lose(i), nothing);
    EXPECT_EQ(lose(count - 1), cleaned_up(count));
    expect_state(state::failed, verdict::unreachable);
    EXPECT_EQ(machine.granted_by(), node_set::first(quorum - 1));
}

TEST_P(acquire_quorum, holds_at_the_very_last_moment) {
    grant_all_but_one_of_the_quorum();
    EXPECT_EQ(grant(quorum - 1, 7, deadline - 1ns), decided);
    expect_state(state::held, verdict::held);
}

TEST_P(acquire_quorum, is_too_late_when_the_validity_has_just_passed) {
    grant_all_but_one_of_the_quorum();
    EXPECT_EQ(grant(quorum - 1, 7, deadline), cleaned_up(count));
    expect_state(state::failed, verdict::too_late);
}

TEST_P(acquire_quorum, is_too_late_long_after_the_validity) {
    grant_all_but_one_of_the_quorum();
    EXPECT_EQ(grant(quorum - 1, 7, at(1h)), cleaned_up(count));
    expect_state(state::failed, verdict::too_late);
}

TEST_P(acquire_quorum, insists_on_the_least_validity_to_the_nanosecond) {
    for (const auto over : {0ns, 1ns}) {
        auto settings = config_for(count);
        settings.timing.min_validity = 2s;
        acquire demanding{settings};
        demanding.start(at(0s));
        actions last;
        for (std::size_t i = 0; i < quorum; ++i) {
            last = demanding.step(acquire::granted{node(i), token(7)}, deadline - 2s + over);
        }
        EXPECT_EQ(last, over == 0ns ? decided : cleaned_up(count));
        EXPECT_EQ(demanding.outcome(), over == 0ns ? verdict::held : verdict::too_late);
    }
}

TEST_P(acquire_quorum, believes_less_with_a_lock_delay) {
    auto settings = config_for(count);
    settings.timing.guard_time = 4s;
    acquire careful{settings};
    careful.start(at(0s));
    EXPECT_EQ(careful.valid_until(), at(6s));
    actions last;
    for (std::size_t i = 0; i < quorum; ++i) {
        last = careful.step(acquire::granted{node(i), token(7)}, at(6s));
    }
    EXPECT_EQ(last, cleaned_up(count));
    EXPECT_EQ(careful.outcome(), verdict::too_late);
}

TEST_P(acquire_quorum, cleans_up_everywhere_when_cancelled_before_any_answer) {
    EXPECT_EQ(machine.step(acquire::cancelled{}, at(1ms)), cleaned_up(count));
    expect_state(state::failed, verdict::cancelled);
}

TEST_P(acquire_quorum, does_not_mind_being_cancelled_once_held) {
    grant_all_but_one_of_the_quorum();
    grant(quorum - 1);
    EXPECT_EQ(machine.step(acquire::cancelled{}, at(1ms)), nothing);
    expect_state(state::held, verdict::held);
}

TEST_P(acquire_quorum, ignores_every_event_once_failed) {
    machine.step(acquire::cancelled{}, at(1ms));
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(grant(i), nothing);
        EXPECT_EQ(deny(i), nothing);
        EXPECT_EQ(lose(i), nothing);
        EXPECT_EQ(machine.step(acquire::committed{node(i), token(7)}, at(1ms)), nothing);
        EXPECT_EQ(machine.step(acquire::disowned{node(i)}, at(1ms)), nothing);
    }
    EXPECT_EQ(machine.step(acquire::cancelled{}, at(1ms)), nothing);
    expect_state(state::failed, verdict::cancelled);
    EXPECT_EQ(machine.granted_by(), node_set{});
}

TEST_P(acquire_quorum, ignores_denials_and_silence_once_held) {
    for (std::size_t i = 0; i < quorum; ++i) grant(i);
    for (std::size_t i = quorum; i < count; ++i) {
        EXPECT_EQ(i % 2 == 0 ? deny(i) : lose(i), nothing);
    }
    expect_state(state::held, verdict::held);
    EXPECT_EQ(machine.granted_by(), node_set::first(quorum));
}

TEST_P(acquire_quorum, ignores_the_end_of_a_commit_once_held) {
    for (std::size_t i = 0; i < quorum; ++i) grant(i);
    EXPECT_EQ(machine.step(acquire::committed{node(0), token(9)}, at(1ms)), nothing);
    EXPECT_EQ(machine.step(acquire::disowned{node(0)}, at(1ms)), nothing);
    EXPECT_EQ(lose(0), nothing);
    expect_state(state::held, verdict::held);
    EXPECT_EQ(machine.token(), token(7));
    EXPECT_EQ(machine.granted_by(), node_set::first(quorum));
}

TEST_P(acquire_quorum, asserts_that_no_commit_ends_before_one_was_sent) {
    EXPECT_ASSERTED(machine.step(acquire::committed{node(0), token(7)}, at(1ms)));
    EXPECT_ASSERTED(machine.step(acquire::disowned{node(0)}, at(1ms)));
}

TEST(acquire, asserts_its_contract) {
    EXPECT_ASSERTED(acquire{config_for(0)});
    EXPECT_ASSERTED(acquire{config_for(max_nodes + 1)});
    EXPECT_ASSERTED((acquire{{.nodes = 1, .timing = {.ttl = 2ms}}}));
    EXPECT_ASSERTED((acquire{{.nodes = 1, .timing = {.ttl = 1s, .guard_time = 1s}}}));
    EXPECT_ASSERTED(acquire{config_for(1)}.step(acquire::denied{node(0)}, at(0s)));
    auto machine = started(1);
    EXPECT_ASSERTED(machine.start(at(0s)));
}

TEST(acquire, releases_nowhere_when_every_node_denied) {
    acquire one = started(1);
    EXPECT_EQ(one.step(acquire::denied{node(0)}, at(1ms)), decided);
    EXPECT_EQ(one.outcome(), verdict::contended);
}

TEST(acquire, releases_on_all_when_two_of_three_denied_and_the_third_may_yet_grant) {
    auto machine = started(3);
    EXPECT_EQ(machine.step(acquire::denied{node(2)}, at(1ms)), nothing);
    EXPECT_EQ(machine.step(acquire::denied{node(0)}, at(1ms)), cleaned_up(3));
    EXPECT_EQ(machine.step(acquire::granted{node(1), token(7)}, at(2ms)), nothing);
}

TEST(acquire, is_contended_if_some_deny_while_a_minority_is_out_of_reach) {
    auto three = started(3);
    EXPECT_EQ(three.step(acquire::unknown{node(0)}, at(1ms)), nothing);
    EXPECT_EQ(three.step(acquire::denied{node(1)}, at(1ms)), cleaned_up(3));
    EXPECT_EQ(three.outcome(), verdict::contended);

    auto five = started(5);
    EXPECT_EQ(five.step(acquire::unknown{node(0)}, at(1ms)), nothing);
    EXPECT_EQ(five.step(acquire::unknown{node(4)}, at(1ms)), nothing);
    EXPECT_EQ(five.step(acquire::denied{node(2)}, at(1ms)), cleaned_up(5));
    EXPECT_EQ(five.outcome(), verdict::contended);
}

TEST(acquire, is_unreachable_if_a_majority_is_out_of_reach_whatever_the_others_say) {
    auto machine = started(5);
    EXPECT_EQ(machine.step(acquire::granted{node(0), token(7)}, at(1ms)), nothing);
    EXPECT_EQ(machine.step(acquire::unknown{node(1)}, at(1ms)), nothing);
    EXPECT_EQ(machine.step(acquire::unknown{node(2)}, at(1ms)), nothing);
    EXPECT_EQ(machine.step(acquire::unknown{node(3)}, at(1ms)), cleaned_up(5));
    EXPECT_EQ(machine.outcome(), verdict::unreachable);
}

TEST(acquire, counts_an_answer_that_comes_after_it_was_given_up_for_unknown) {
    auto late_grant = started(3);
    EXPECT_EQ(late_grant.step(acquire::unknown{node(0)}, at(1ms)), nothing);
    EXPECT_EQ(late_grant.step(acquire::granted{node(0), token(7)}, at(2ms)), nothing);
    EXPECT_EQ(late_grant.unknown_from(), node_set{});
    EXPECT_EQ(late_grant.step(acquire::granted{node(1), token(7)}, at(3ms)), decided);
    EXPECT_EQ(late_grant.outcome(), verdict::held);

    auto late_denial = started(3);
    EXPECT_EQ(late_denial.step(acquire::unknown{node(0)}, at(1ms)), nothing);
    EXPECT_EQ(late_denial.step(acquire::denied{node(0)}, at(2ms)), nothing);
    EXPECT_EQ(late_denial.step(acquire::unknown{node(1)}, at(3ms)), cleaned_up(3));
    EXPECT_EQ(late_denial.outcome(), verdict::contended);
}

TEST(acquire, runs_with_the_largest_quorum) {
    auto machine = started(max_nodes);
    for (std::size_t i = 0; i + 1 < majority(max_nodes); ++i) {
        EXPECT_EQ(machine.step(acquire::granted{node(max_nodes - 1 - i), token(7)}, at(1ms)),
                  nothing);
    }
    EXPECT_EQ(machine.step(acquire::granted{node(0), token(7)}, at(1ms)), decided);
}

}  // namespace
}  // namespace holdfast::core
