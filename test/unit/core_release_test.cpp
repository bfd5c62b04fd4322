#include "core/release.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "unit/core_helpers.hpp"

namespace holdfast::core {
namespace {

using actions = release::actions;
using verdict = release::verdict;

constexpr actions nothing{};
constexpr actions decided{.decided = true};

class release_quorum : public ::testing::TestWithParam<int> {
  protected:
    const std::size_t count = static_cast<std::size_t>(GetParam());
    const std::size_t quorum = majority(count);
    release machine{count};

    void answer_until_decided(auto event_for, std::size_t needed) {
        machine.start();
        for (std::size_t i = 0; i + 1 < needed; ++i) {
            EXPECT_EQ(machine.step(event_for(node(i))), nothing);
            EXPECT_EQ(machine.outcome(), verdict::none);
        }
        EXPECT_EQ(machine.step(event_for(node(needed - 1))), decided);
        EXPECT_EQ(machine.current(), release::state::decided);
    }
};

INSTANTIATE_TEST_SUITE_P(release, release_quorum, quorum_sizes, nodes_in_name);

TEST_P(release_quorum, asks_every_node) {
    EXPECT_EQ(machine.current(), release::state::idle);
    EXPECT_EQ(machine.start(), actions{.release_on = node_set::first(count)});
    EXPECT_EQ(machine.current(), release::state::releasing);
    EXPECT_EQ(machine.outcome(), verdict::none);
}

TEST_P(release_quorum, is_released_at_the_first_majority) {
    answer_until_decided([](node_index n) { return release::released{n}; }, quorum);
    EXPECT_EQ(machine.outcome(), verdict::released);
}

TEST_P(release_quorum, was_lost_as_soon_as_no_majority_can_have_held_it) {
    answer_until_decided([](node_index n) { return release::disowned{n}; }, count - quorum + 1);
    EXPECT_EQ(machine.outcome(), verdict::already_lost);
}

TEST_P(release_quorum, cannot_tell_when_nobody_answers) {
    answer_until_decided([](node_index n) { return release::unknown{n}; }, count);
    EXPECT_EQ(machine.outcome(), verdict::unknown);
}

TEST_P(release_quorum, ignores_what_comes_after_the_decision) {
    answer_until_decided([](node_index n) { return release::released{n}; }, quorum);
    for (std::size_t i = quorum; i < count; ++i) {
        EXPECT_EQ(machine.step(release::disowned{node(i)}), nothing);
        EXPECT_EQ(machine.step(release::unknown{node(i)}), nothing);
        EXPECT_EQ(machine.step(release::released{node(i)}), nothing);
    }
    EXPECT_EQ(machine.outcome(), verdict::released);
}

TEST(release, cannot_tell_when_one_released_one_never_had_it_and_one_is_silent) {
    release machine{3};
    machine.start();
    EXPECT_EQ(machine.step(release::released{node(2)}), nothing);
    EXPECT_EQ(machine.step(release::disowned{node(0)}), nothing);
    EXPECT_EQ(machine.step(release::unknown{node(1)}), decided);
    EXPECT_EQ(machine.outcome(), verdict::unknown);
}

TEST(release, is_released_by_a_majority_though_a_minority_was_lost) {
    release machine{5};
    machine.start();
    EXPECT_EQ(machine.step(release::disowned{node(0)}), nothing);
    EXPECT_EQ(machine.step(release::unknown{node(1)}), nothing);
    EXPECT_EQ(machine.step(release::released{node(2)}), nothing);
    EXPECT_EQ(machine.step(release::released{node(3)}), nothing);
    EXPECT_EQ(machine.step(release::released{node(4)}), decided);
    EXPECT_EQ(machine.outcome(), verdict::released);
}

TEST(release, asserts_its_contract) {
    EXPECT_ASSERTED(release{0});
    EXPECT_ASSERTED(release{max_nodes + 1});
    EXPECT_ASSERTED(release{1}.step(release::released{node(0)}));
    release started{1};
    started.start();
    EXPECT_ASSERTED(started.start());
}

TEST(release, decides_exactly_once_and_by_what_was_answered) {
    EXPECT_TRUE(rc::check([] {
        const auto count = *rc::gen::element<std::size_t>(1, 3, 5, 7);
        auto order = std::vector<std::size_t>(count);
        for (std::size_t i = 0; i < count; ++i) order[i] = i;
        std::size_t released = 0, disowned = 0, decisions = 0;
        release machine{count};
        machine.start();
        while (!order.empty()) {
            const auto pick = *rc::gen::inRange<std::size_t>(0, order.size());
            const auto from = node(order[pick]);
            order.erase(order.begin() + static_cast<std::ptrdiff_t>(pick));
            const auto kind = *rc::gen::inRange(0, 3);
            const bool open = machine.outcome() == verdict::none;
            const auto done = kind == 0   ? machine.step(release::released{from})
                              : kind == 1 ? machine.step(release::disowned{from})
                                          : machine.step(release::unknown{from});
            decisions += done.decided ? 1U : 0U;
            if (open && kind == 0) ++released;
            if (open && kind == 1) ++disowned;
        }
        RC_ASSERT(decisions == 1U);
        const auto expected = released >= majority(count)          ? verdict::released
                              : disowned > count - majority(count) ? verdict::already_lost
                                                                   : verdict::unknown;
        RC_ASSERT(machine.outcome() == expected);
    }));
}

}  // namespace
}  // namespace holdfast::core
