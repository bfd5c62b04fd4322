#include "net/pipeline.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>
#include <string>
#include <vector>

namespace holdfast::net {
namespace {

using names = std::vector<exchange::tag>;

constexpr auto never = clock::time_point::max();

clock::time_point at(int when) { return clock::time_point(std::chrono::milliseconds(when)); }

class somebody final : public exchange {
    void encode(tag, bool, std::string&) override {}
    void answered(tag, std::string_view) override {}
    void failed(tag, const failure&) noexcept override {}
};

pipeline::request request(exchange::tag name, int deadline) {
    return {.who = new somebody, .tag = name, .deadline = at(deadline)};
}

names late_at(pipeline& line, int now) {
    names late;
    line.expire(at(now), [&](exchange&, exchange::tag name) { late.push_back(name); });
    return late;
}

TEST(pipeline, reports_each_request_at_its_own_deadline_whatever_is_before_it) {
    pipeline line;
    line.push(request(1, 1200));  // waited for the connection
    line.push(request(2, 200));
    line.push(request(3, 210));
    EXPECT_EQ(line.next_deadline(), at(200));
    EXPECT_EQ(late_at(line, 199), names{});
    EXPECT_EQ(late_at(line, 200), names{2});
    EXPECT_EQ(line.next_deadline(), at(210));
    EXPECT_EQ(late_at(line, 210), names{3});
    EXPECT_EQ(line.next_deadline(), at(1200));
    EXPECT_EQ(late_at(line, 1200), names{1});
    EXPECT_EQ(line.next_deadline(), never);
}

TEST(pipeline, a_late_request_keeps_its_place_until_its_answer_comes) {
    pipeline line;
    line.push(request(1, 500));
    line.push(request(2, 100));
    EXPECT_FALSE(line.overdue());
    EXPECT_EQ(late_at(line, 100), names{2});
    EXPECT_TRUE(line.overdue());
    EXPECT_TRUE(line.pop().who);
    EXPECT_TRUE(line.overdue());
    EXPECT_FALSE(line.pop().who) << "it was told already";
    EXPECT_FALSE(line.overdue());
}

TEST(pipeline, an_answered_request_is_never_late) {
    pipeline line;
    line.push(request(1, 100));
    line.push(request(2, 300));
    line.pop();
    EXPECT_EQ(late_at(line, 200), names{});
    EXPECT_EQ(line.next_deadline(), at(300));
    line.pop();
    EXPECT_EQ(line.next_deadline(), never);
}

TEST(pipeline, whoever_is_late_may_ask_again) {
    pipeline line;
    for (exchange::tag name = 0; name < 16; ++name) line.push(request(name, 100));
    line.expire(at(100), [&](exchange&, exchange::tag name) { line.push(request(name, 150)); });
    EXPECT_EQ(line.size(), 32U);
    EXPECT_EQ(line.next_deadline(), at(150));
    EXPECT_EQ(late_at(line, 150).size(), 16U);
}

TEST(pipeline, what_is_left_is_reported_once) {
    pipeline line;
    line.push(request(1, 100));
    line.push(request(2, 200));
    late_at(line, 100);
    names left;
    line.clear([&](exchange&, exchange::tag name) { left.push_back(name); });
    EXPECT_EQ(left, names{2});
    EXPECT_TRUE(line.empty());
    EXPECT_FALSE(line.overdue());
    EXPECT_EQ(line.next_deadline(), never);
}

// Against the obvious implementation, which looks at every request every time.
TEST(pipeline, behaves_as_a_list_would) {
    rc::check("any sequence of push, pop and expire", [](const std::vector<std::uint16_t>& steps) {
        struct entry {
            exchange::tag name;
            int deadline;
            bool reported = false;
        };
        pipeline line;
        std::deque<entry> model;
        exchange::tag next = 0;
        int now = 0;
        for (const auto step : steps) {
            if (step % 3 == 0) {
                line.push(request(next, now + step % 50));
                model.push_back({next++, now + step % 50});
            } else if (step % 3 == 1 && !model.empty()) {
                RC_ASSERT((line.pop().who == nullptr) == model.front().reported);
                model.pop_front();
            } else {
                now += step % 20;
                names expected;
                for (auto& each : model) {
                    if (each.reported || each.deadline > now) continue;
                    each.reported = true;
                    expected.push_back(each.name);
                }
                RC_ASSERT(late_at(line, now) == expected);
            }
            bool overdue = false;
            auto earliest = never;
            for (const auto& each : model) {
                overdue = overdue || each.reported;
                if (!each.reported) earliest = std::min(earliest, at(each.deadline));
            }
            RC_ASSERT(line.overdue() == overdue);
            RC_ASSERT(line.next_deadline() <= earliest);
        }
    });
}

}  // namespace
}  // namespace holdfast::net
