#pragma once

#include <algorithm>
#include <boost/circular_buffer.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <utility>

#include "holdfast/clock.hpp"
#include "net/exchange.hpp"

namespace holdfast::net {

/// The requests of one connection that wait for their answers, oldest first.
///
/// A request past its deadline is reported, and its place in line stays: the answer is still to
/// come. Deadlines are in no order: a request that waited for the connection was given more time,
/// and one that is repeated by text keeps the time that it had. Nearly always nothing is late, so
/// only the earliest of them is compared; when that has come, all requests are looked at.
class pipeline {
  public:
    struct request {
        boost::intrusive_ptr<exchange> who;  // null: past its deadline
        exchange::tag tag = 0;
        clock::time_point deadline{};
        bool by_text = false;
        bool preceded = false;  // by a command whose answer comes first, and says nothing
        bool by_push = false;   // its answer is a push
    };

    [[nodiscard]] bool empty() const { return line_.empty(); }
    [[nodiscard]] std::size_t size() const { return line_.size(); }
    [[nodiscard]] request& front() { return line_.front(); }

    /// Some request is past its deadline, and its answer is still to come.
    [[nodiscard]] bool overdue() const { return overdue_ > 0; }

    /// No request is late before. It may belong to one that was answered meanwhile: then expire()
    /// finds nothing, and the next one.
    [[nodiscard]] clock::time_point next_deadline() const { return earliest_; }

    /// So that the next push() cannot fail.
    void reserve_one() {
        if (line_.full()) line_.set_capacity(std::max(first_capacity, 2 * line_.capacity()));
    }

    void push(request what) {
        reserve_one();
        earliest_ = std::min(earliest_, what.deadline);
        line_.push_back(std::move(what));
    }

    request pop() {
        auto first = std::move(line_.front());
        line_.pop_front();
        if (!first.who) --overdue_;
        if (line_.empty()) earliest_ = never;
        return first;
    }

    /// Calls `late(who, tag)` for each request whose deadline has come. That may push, and clear().
    template <typename Late>
    void expire(clock::time_point now, Late&& late) HOLDFAST_LOCKED {
        if (now < earliest_) return;
        earliest_ = never;
        for (std::size_t n = 0; n < line_.size(); ++n) {  // NOLINT(modernize-loop-convert): grows
            if (!line_[n].who) continue;
            if (now < line_[n].deadline) {
                earliest_ = std::min(earliest_, line_[n].deadline);
                continue;
            }
            ++overdue_;
            const auto who = std::exchange(line_[n].who, nullptr);
            late(*who, line_[n].tag);
        }
    }

    /// Empties it, and calls `left(who, tag)` for each request that was not reported yet.
    template <typename Left>
    void clear(Left&& left) HOLDFAST_LOCKED {
        overdue_ = 0;
        earliest_ = never;
        boost::circular_buffer<request> all;
        all.swap(line_);
        for (const auto& each : all) {
            if (each.who) left(*each.who, each.tag);
        }
    }

  private:
    static constexpr std::size_t first_capacity = 16;
    static constexpr auto never = clock::time_point::max();

    boost::circular_buffer<request> line_;
    std::size_t overdue_ = 0;
    clock::time_point earliest_ = never;
};

}  // namespace holdfast::net
