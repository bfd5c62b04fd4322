#include "core/renew.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "unit/core_helpers.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using actions = renew::actions;
using state = renew::state;

constexpr actions nothing{};
constexpr actions decided{.decided = true};

// A lease asked for at 0 s, of which 9.898 s may be believed, renewed at 3 s.
constexpr timing ten_seconds{.ttl = 10s};
constexpr auto sent = at(3s);
constexpr auto old_deadline = at(10s - 102ms);
constexpr auto new_deadline = at(13s - 102ms);

renew::config config_for(std::size_t count) {
    return {.nodes = count, .timing = ten_seconds, .old_deadline = old_deadline};
}

class renew_quorum : public ::testing::TestWithParam<int> {
  protected:
    const std::size_t count = static_cast<std::size_t>(GetParam());
    const std::size_t quorum = majority(count);
    renew machine{config_for(count)};

    void answer_until_decided(auto event_for, std::size_t needed, time_point now) {
        machine.start(sent);
        for (std::size_t i = 0; i + 1 < needed; ++i) {
            EXPECT_EQ(machine.step(event_for(node(i)), at(4s)), nothing);
            EXPECT_EQ(machine.current(), state::extending);
        }
        EXPECT_EQ(machine.step(event_for(node(needed - 1)), now), decided);
    }
    void extend_on_a_majority(time_point now) {
        answer_until_decided([](node_index n) { return renew::extended{n}; }, quorum, now);
    }
};

INSTANTIATE_TEST_SUITE_P(renew, renew_quorum, quorum_sizes, nodes_in_name);

TEST_P(renew_quorum, asks_every_node) {
    EXPECT_EQ(machine.current(), state::idle);
    EXPECT_EQ(machine.start(sent), actions{.extend_on = node_set::first(count)});
    EXPECT_EQ(machine.current(), state::extending);
    EXPECT_EQ(machine.sent_at(), sent);
    EXPECT_EQ(machine.valid_until(), old_deadline);
}

TEST_P(renew_quorum, counts_from_before_it_was_sent_at_the_first_majority) {
    extend_on_a_majority(at(4s));
    EXPECT_EQ(machine.current(), state::extended);
    EXPECT_EQ(machine.valid_until(), new_deadline);
}

TEST_P(renew_quorum, counts_until_just_before_the_old_deadline) {
    extend_on_a_majority(old_deadline - 1ns);
    EXPECT_EQ(machine.current(), state::extended);
    EXPECT_EQ(machine.valid_until(), new_deadline);
}

TEST_P(renew_quorum, is_lost_when_the_majority_comes_at_the_old_deadline) {
    extend_on_a_majority(old_deadline);
    EXPECT_EQ(machine.current(), state::lost);
    EXPECT_EQ(machine.valid_until(), old_deadline);
}

TEST_P(renew_quorum, is_lost_when_the_majority_comes_after_the_old_deadline) {
    extend_on_a_majority(at(1h));
    EXPECT_EQ(machine.current(), state::lost);
}

TEST_P(renew_quorum, is_lost_as_soon_as_too_many_disown_it) {
    answer_until_decided([](node_index n) { return renew::disowned{n}; }, count - quorum + 1,
                         at(4s));
    EXPECT_EQ(machine.current(), state::lost);
    EXPECT_EQ(machine.valid_until(), old_deadline);
}

TEST_P(renew_quorum, is_unconfirmed_as_soon_as_too_many_are_silent) {
    answer_until_decided([](node_index n) { return renew::unknown{n}; }, count - quorum + 1,
                         at(4s));
    EXPECT_EQ(machine.current(), state::unconfirmed);
    EXPECT_EQ(machine.valid_until(), old_deadline);
}

TEST_P(renew_quorum, is_lost_when_the_deadline_passes_while_nodes_are_silent) {
    machine.start(sent);
    EXPECT_EQ(machine.step(renew::unknown{node(0)}, old_deadline), decided);
    EXPECT_EQ(machine.current(), state::lost);
}

TEST_P(renew_quorum, asks_nobody_from_the_deadline_on) {
    EXPECT_EQ(machine.start(old_deadline), decided);
    EXPECT_EQ(machine.current(), state::lost);
    EXPECT_EQ(machine.valid_until(), old_deadline);
    EXPECT_EQ(machine.step(renew::extended{node(0)}, old_deadline), nothing);
}

TEST_P(renew_quorum, still_asks_just_before_the_deadline) {
    EXPECT_EQ(machine.start(old_deadline - 1ns), actions{.extend_on = node_set::first(count)});
}

TEST_P(renew_quorum, never_shortens) {
    renew brief{{.nodes = count, .timing = {.ttl = 1s}, .old_deadline = old_deadline}};
    brief.start(sent);
    for (std::size_t i = 0; i < quorum; ++i) brief.step(renew::extended{node(i)}, at(4s));
    EXPECT_EQ(brief.current(), state::extended);
    EXPECT_EQ(brief.valid_until(), old_deadline);
}

TEST(renew, is_unconfirmed_when_neither_the_owners_nor_the_strangers_have_a_majority) {
    renew machine{config_for(3)};
    machine.start(sent);
    EXPECT_EQ(machine.step(renew::extended{node(0)}, at(4s)), nothing);
    EXPECT_EQ(machine.step(renew::disowned{node(1)}, at(4s)), nothing);
    EXPECT_EQ(machine.step(renew::unknown{node(2)}, at(4s)), decided);
    EXPECT_EQ(machine.current(), state::unconfirmed);
}

TEST(renew, succeeds_with_a_minority_lost_and_silent) {
    renew machine{config_for(5)};
    machine.start(sent);
    EXPECT_EQ(machine.step(renew::disowned{node(0)}, at(4s)), nothing);
    EXPECT_EQ(machine.step(renew::unknown{node(1)}, at(4s)), nothing);
    EXPECT_EQ(machine.step(renew::extended{node(2)}, at(4s)), nothing);
    EXPECT_EQ(machine.step(renew::extended{node(3)}, at(4s)), nothing);
    EXPECT_EQ(machine.step(renew::extended{node(4)}, at(4s)), decided);
    EXPECT_EQ(machine.current(), state::extended);
}

TEST(renew, ignores_every_answer_after_every_decision) {
    for (const auto how : {state::extended, state::unconfirmed, state::lost}) {
        renew machine{config_for(5)};
        machine.start(sent);
        for (std::size_t i = 0; i < 3; ++i) {
            if (how == state::extended) machine.step(renew::extended{node(i)}, at(4s));
            if (how == state::unconfirmed) machine.step(renew::unknown{node(i)}, at(4s));
            if (how == state::lost) machine.step(renew::disowned{node(i)}, at(4s));
        }
        ASSERT_EQ(machine.current(), how);
        const auto believed = machine.valid_until();
        for (std::size_t i = 3; i < 5; ++i) {
            EXPECT_EQ(machine.step(renew::extended{node(i)}, at(5s)), nothing);
            EXPECT_EQ(machine.step(renew::disowned{node(i)}, at(5s)), nothing);
            EXPECT_EQ(machine.step(renew::unknown{node(i)}, at(1h)), nothing);
        }
        EXPECT_EQ(machine.current(), how);
        EXPECT_EQ(machine.valid_until(), believed);
    }
}

TEST(renew, asserts_its_contract) {
    EXPECT_ASSERTED(renew{config_for(0)});
    EXPECT_ASSERTED(renew{config_for(max_nodes + 1)});
    EXPECT_ASSERTED(renew{config_for(1)}.step(renew::extended{node(0)}, sent));
    renew started{config_for(1)};
    started.start(sent);
    EXPECT_ASSERTED(started.start(sent));
}

TEST(renew, decides_once_and_extends_only_with_a_majority_in_time) {
    EXPECT_TRUE(rc::check([] {
        const auto count = *rc::gen::element<std::size_t>(1, 3, 5, 7);
        renew machine{config_for(count)};
        machine.start(sent);
        auto now = sent;
        std::size_t extensions = 0, decisions = 0;
        for (std::size_t i = 0; i < count; ++i) {
            now += std::chrono::milliseconds{*rc::gen::inRange(0, 8000)};
            const auto kind = *rc::gen::weightedElement<int>({{4, 0}, {1, 1}, {1, 2}});
            const auto done = kind == 0   ? machine.step(renew::extended{node(i)}, now)
                              : kind == 1 ? machine.step(renew::disowned{node(i)}, now)
                                          : machine.step(renew::unknown{node(i)}, now);
            if (kind == 0) ++extensions;
            if (!done.decided) continue;
            ++decisions;
            const bool in_time = now < old_deadline && extensions >= majority(count);
            RC_ASSERT((machine.current() == state::extended) == in_time);
        }
        RC_ASSERT(decisions == 1U);
        const bool extended = machine.current() == state::extended;
        RC_ASSERT(machine.valid_until() == (extended ? new_deadline : old_deadline));
    }));
}

}  // namespace
}  // namespace holdfast::core
