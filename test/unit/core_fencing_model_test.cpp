#include "unit/core_fencing_model.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>

// The proof of the fencing tokens, tried on random schedules; and the two shortcuts that look
// right and are not, to show that the same search would find a mistake.
namespace holdfast::core {
namespace {

constexpr int most_steps = 300;

struct findings {
    std::uint64_t schedules = 0;  // tried, up to the first that broke a promise
    std::size_t holders = 0;
    bool violated = false;
};

findings search(fencing_rules rules, std::uint64_t most_schedules) {
    findings found;
    for (; found.schedules < most_schedules && !found.violated; ++found.schedules) {
        std::mt19937_64 random{found.schedules};
        fencing_model model{rules, {random() % 4, random() % 4, random() % 4}};
        model.run([&](std::size_t options) { return random() % options; }, most_steps);
        found.violated = model.violated();
        found.holders += model.holders();
    }
    return found;
}

TEST(fencing, tokens_are_unique_and_rise_in_real_time_order) {
    const auto found = search({}, 1'000);
    EXPECT_FALSE(found.violated) << "schedule " << found.schedules - 1;
    EXPECT_GT(found.holders, 1'500U);  // the schedules do come to something
}

TEST(fencing, tokens_repeat_when_a_commit_does_not_check_the_owner) {
    EXPECT_TRUE(search({.commit_checks_owner = false}, 1'000).violated);
}

TEST(fencing, tokens_repeat_when_the_largest_counter_is_taken_without_a_commit) {
    EXPECT_TRUE(search({.commit_raises_counter = false}, 1'000).violated);
}

// The same, with schedules that shrink to a short one where they fail.
TEST(fencing, tokens_survive_every_schedule_that_can_be_thought_of) {
    EXPECT_TRUE(rc::check([] {
        const auto counters = *rc::gen::container<std::vector<std::uint64_t>>(
            3, rc::gen::inRange<std::uint64_t>(0, 4));
        const auto schedule = *rc::gen::container<std::vector<std::size_t>>(
            most_steps, rc::gen::inRange<std::size_t>(0, 1000));
        fencing_model model{{}, counters};
        std::size_t next = 0;
        model.run([&](std::size_t options) { return schedule[next++] % options; }, most_steps);
        RC_ASSERT(!model.violated());
    }));
}

}  // namespace
}  // namespace holdfast::core
