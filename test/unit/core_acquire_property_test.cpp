#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "core/acquire.hpp"
#include "unit/core_helpers.hpp"

// What must hold for an acquire in whatever order, and with whatever delays, its answers come.
namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using actions = acquire::actions;
using state = acquire::state;
using verdict = acquire::verdict;

constexpr duration least_validity = 3s;

/// A driver with nodes that answer at random, and its own books on what they said.
class random_run {
  public:
    explicit random_run(std::size_t count)
        : count_(count),
          machine_{{.nodes = count, .timing = {.ttl = 10s, .min_validity = least_validity}}},
          waiting_(node_set::first(count)) {
        RC_ASSERT(machine_.start(at(0s)) == actions{.acquire_on = waiting_});
    }

    void run_to_the_end() {
        while (!waiting_.empty() || commits_under_way() > 0) {
            now_ += 1ms * *rc::gen::weightedOneOf<int>(
                              {{9, rc::gen::inRange(0, 20)}, {1, rc::gen::inRange(0, 4000)}});
            if (*rc::gen::inRange(0, 60) == 0) take(machine_.step(acquire::cancelled{}, now_));
            answer_from(*rc::gen::elementOf(nodes_with_requests()));
        }
        RC_ASSERT(decisions_ == 1);
    }

  private:
    [[nodiscard]] std::size_t commits_under_way() const {
        std::size_t sum = 0;
        for (const auto& queue : commits_) sum += queue.size();
        return sum;
    }
    [[nodiscard]] std::vector<std::size_t> nodes_with_requests() const {
        std::vector<std::size_t> result;
        for (std::size_t i = 0; i < count_; ++i) {
            if (waiting_.contains(node(i)) || !commits_[i].empty()) result.push_back(i);
        }
        return result;
    }

    void answer_from(std::size_t index) {
        if (waiting_.contains(node(index))) {
            answer_acquire(index);
        } else {
            answer_commit(index);
        }
    }

    void answer_acquire(std::size_t index) {
        waiting_.erase(node(index));
        const auto kind = *rc::gen::weightedElement<int>({{6, 0}, {1, 1}, {1, 2}});
        if (kind == 1) return deny(index);
        if (kind == 2) return stay_silent(index);
        const auto counter = *rc::gen::inRange<std::uint64_t>(1, 4);
        stands_at_[index] = token(counter);
        take(machine_.step(acquire::granted{node(index), token(counter)}, now_));
    }
    void deny(std::size_t index) {
        denials_.insert(node(index));
        take(machine_.step(acquire::denied{node(index)}, now_));
    }
    void stay_silent(std::size_t index) {
        stands_at_[index] = {};
        take(machine_.step(acquire::unknown{node(index)}, now_));
    }

    void answer_commit(std::size_t index) {
        const auto value = commits_[index].front();
        commits_[index].pop_front();
        const auto kind = *rc::gen::weightedElement<int>({{4, 0}, {1, 1}, {1, 2}});
        if (kind == 2) return stay_silent(index);
        if (kind == 1) {
            stands_at_[index] = {};
            take(machine_.step(acquire::disowned{node(index)}, now_));
            return;
        }
        if (stands_at_[index] != fencing_token{}) {
            stands_at_[index] = std::max(stands_at_[index], value);
        }
        take(machine_.step(acquire::committed{node(index), value}, now_));
    }

    void take(const actions& todo) {
        RC_ASSERT(todo.acquire_on.empty());
        check_commits(todo);
        if (todo.decided) check_decision(todo);
        RC_ASSERT(todo.release_on.empty() || todo.decided);
        RC_ASSERT((decisions_ == 1) == machine_.decided());
    }

    void check_commits(const actions& todo) {
        if (todo.commit_on.empty()) {
            RC_ASSERT(todo.commit == fencing_token{});
            return;
        }
        RC_ASSERT(machine_.current() == state::committing || machine_.current() == state::held);
        RC_ASSERT(todo.commit == machine_.token());
        todo.commit_on.for_each([&](node_index where) {
            RC_ASSERT(stands_at_[where.value] != fencing_token{});
            RC_ASSERT(stands_at_[where.value] < todo.commit);
            RC_ASSERT(sent_[where.value] < todo.commit);
            sent_[where.value] = todo.commit;
            commits_[where.value].push_back(todo.commit);
        });
    }

    void check_decision(const actions& todo) {
        RC_ASSERT(++decisions_ == 1);
        const auto all = node_set::first(count_);
        if (machine_.current() == state::failed) {
            RC_ASSERT(todo.release_on == (denials_ == all ? node_set{} : all));
            RC_ASSERT(machine_.outcome() != verdict::held);
            RC_ASSERT(machine_.outcome() != verdict::none);
            return;
        }
        RC_ASSERT(machine_.outcome() == verdict::held);
        RC_ASSERT(todo.release_on.empty());
        RC_ASSERT(std::ranges::count(stands_at_, machine_.token()) >=
                  static_cast<std::ptrdiff_t>(majority(count_)));
        RC_ASSERT(machine_.valid_until() == at(10s - 102ms));
        RC_ASSERT(machine_.valid_until() - now_ >= least_validity);
    }

    std::size_t count_;
    acquire machine_;
    time_point now_ = at(0s);
    node_set waiting_;
    node_set denials_{};
    int decisions_ = 0;
    std::array<std::deque<fencing_token>, max_nodes> commits_{};
    std::array<fencing_token, max_nodes> sent_{};
    std::array<fencing_token, max_nodes> stands_at_{};  // zero: not ours, as far as we know
};

TEST(acquire_property, decides_once_and_holds_only_what_a_majority_committed_in_time) {
    for (const std::size_t count : {1U, 3U, 5U}) {
        EXPECT_TRUE(rc::check("of " + std::to_string(count), [count] {
            for (int i = 0; i < 5; ++i) random_run{count}.run_to_the_end();
        }));
    }
}

}  // namespace
}  // namespace holdfast::core
