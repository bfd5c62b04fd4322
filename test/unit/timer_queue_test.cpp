#include "runtime/driving/timer_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>
#include <map>
#include <vector>

namespace holdfast::runtime {
namespace {

core::time_point at(int when) { return core::time_point(std::chrono::milliseconds(when)); }

struct recorder final : timer {
    explicit recorder(std::vector<int>& into, int who) : log(into), name(who) {}
    ~recorder() override = default;
    void due(core::time_point) noexcept override { log.push_back(name); }

    std::vector<int>& log;
    int name;
};

TEST(timer_queue, calls_in_order_of_time_and_only_what_is_due) {
    std::vector<int> called;
    recorder first(called, 1);
    recorder second(called, 2);
    recorder third(called, 3);
    timer_queue queue;
    for (int n = 0; n < 3; ++n) queue.enroll();
    queue.set(third, at(30));
    queue.set(first, at(10));
    queue.set(second, at(20));
    EXPECT_EQ(queue.next(), at(10));
    queue.fire(at(20));
    EXPECT_EQ(called, (std::vector{1, 2}));
    EXPECT_EQ(queue.next(), at(30));
    queue.cancel(third);
    EXPECT_EQ(queue.next(), core::never);
}

TEST(timer_queue, a_timer_can_be_moved_and_never_means_never) {
    std::vector<int> called;
    recorder one(called, 1);
    timer_queue queue;
    queue.enroll();
    queue.set(one, at(10));
    queue.set(one, at(50));
    queue.fire(at(40));
    EXPECT_TRUE(called.empty());
    queue.set(one, core::never);
    queue.fire(at(100));
    EXPECT_TRUE(called.empty());
}

// Against the obvious implementation: a map from timer to time.
TEST(timer_queue, behaves_as_a_sorted_list_would) {
    rc::check("any sequence of set, cancel and fire", [](const std::vector<std::uint16_t>& steps) {
        constexpr int count = 8;
        std::vector<int> called;
        std::deque<recorder> timers;
        for (int n = 0; n < count; ++n) timers.emplace_back(called, n);
        timer_queue queue;
        for (int n = 0; n < count; ++n) queue.enroll();
        std::map<int, int> model;
        for (const auto step : steps) {
            const int who = step % count;
            const int when = step / count % 50;
            if (step % 5 == 0) {
                queue.cancel(timers[static_cast<std::size_t>(who)]);
                model.erase(who);
            } else if (step % 7 == 0) {
                called.clear();
                queue.fire(at(when));
                std::vector<int> expected;
                std::erase_if(model, [&](const auto& entry) {
                    if (entry.second > when) return false;
                    expected.push_back(entry.first);
                    return true;
                });
                std::sort(called.begin(), called.end());
                RC_ASSERT(called == expected);
            } else {
                queue.set(timers[static_cast<std::size_t>(who)], at(when));
                model[who] = when;
            }
            auto earliest = core::never;
            for (const auto& [name, time] : model) earliest = std::min(earliest, at(time));
            RC_ASSERT(queue.next() == earliest);
        }
        for (auto& each : timers) queue.cancel(each);
    });
}

}  // namespace
}  // namespace holdfast::runtime
