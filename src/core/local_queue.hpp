#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/sharing.hpp"

/// The waiters of one process for one key, first come, first served. Only the head contends at
/// the servers, and only while it could share the key with every lease of this process that is
/// believed to hold it: a thousand threads cost the servers one contender, and a release and the
/// next attempt share one write.
///
///           holders                              queue
///   join    -                                    appended
///   leave   -                                    taken out
///   took    added; it ends those that it         taken out, if there
///           cannot share with
///   freed   taken out                            -
///
/// After each it is the head's turn, if it is compatible with all holders. Whose turn it was before
/// is not told again.
///
/// Where the servers keep a line, holders who share keep nobody from asking: whoever waits for them
/// to leave has to stand there, or others would go on joining them.
namespace holdfast::core {

/// Identifies one waiting caller or one hold within this process.
using local_id = std::uint64_t;

/// Who joined a queue before whom: the first has 1, the next 2, and so on.
using arrival = std::uint64_t;

class local_queue {
  public:
    struct place {
        local_id who;
        arrival joined;
        sharing how{};
        friend bool operator==(const place&, const place&) = default;
    };

    /// `line`: the servers keep one.
    explicit local_queue(bool line = false) : line_(line) {}

    /// Returns true if it is this caller's turn at once.
    bool join(local_id caller, sharing how = alone) {
        queue_.push_back({caller, ++last_, how});
        return queue_.size() == 1 && turn();
    }

    /// Returns whose turn it is now, if that changed.
    std::optional<local_id> leave(local_id caller) {
        return change([&] { take_out(caller); });
    }

    /// So that the next took() needs no memory. One that shares with nobody never does.
    void reserve(sharing how) {
        if (first_ && how != alone) more_.reserve(more_.size() + 1);
    }

    /// `hold` now holds the key. It may have come by itself (an attempt that does not wait).
    /// Returns whose turn it is now, if that changed.
    std::optional<local_id> took(local_id hold, sharing how = alone) {
        return change([&] {
            take_out(hold);
            forget_if([&](const holding& other) { return !compatible(other.how, how); });
            if (first_) {
                more_.push_back({hold, how});
            } else {
                first_ = {hold, how};
            }
        });
    }

    /// The hold was released or lost. Returns whose turn it is now, if that changed. A hold that
    /// has been replaced meanwhile changes nothing.
    std::optional<local_id> freed(local_id hold) {
        return change([&] { forget_if([&](const holding& each) { return each.who == hold; }); });
    }

    /// Who would be next if the holders let go now.
    [[nodiscard]] std::optional<place> next() const {
        return queue_.empty() ? std::nullopt : std::optional{queue_.front()};
    }

    /// Without `caller`, wherever it stands.
    [[nodiscard]] std::size_t others_than(local_id caller) const {
        return static_cast<std::size_t>(std::count_if(
            queue_.begin(), queue_.end(), [&](const place& each) { return each.who != caller; }));
    }

    /// Of whoever joined last, even if it has left since.
    [[nodiscard]] arrival last_arrival() const { return last_; }

    [[nodiscard]] bool holds(local_id who) const {
        return any_holder([&](const holding& each) { return each.who == who; });
    }
    [[nodiscard]] std::size_t holders() const { return first_ ? 1 + more_.size() : 0; }
    [[nodiscard]] bool idle() const { return !first_ && queue_.empty(); }

    /// Whose turn it is: the first in the queue, unless somebody holds the key who keeps it out.
    [[nodiscard]] std::optional<local_id> turn() const {
        if (queue_.empty()) return std::nullopt;
        const auto& next = queue_.front();
        const bool kept_out = any_holder([&](const holding& each) {
            return !compatible(each.how, next.how) && (each.how == alone || !line_);
        });
        return kept_out ? std::nullopt : std::optional{next.who};
    }

  private:
    struct holding {
        local_id who;
        sharing how;
    };

    template <typename Test>
    [[nodiscard]] bool any_holder(Test&& test) const {
        return first_ && (test(*first_) || std::any_of(more_.begin(), more_.end(), test));
    }

    template <typename Change>
    std::optional<local_id> change(Change&& make) {
        const auto before = turn();
        make();
        const auto after = turn();
        return after == before ? std::nullopt : after;
    }

    void take_out(local_id who) {
        std::erase_if(queue_, [&](const place& each) { return each.who == who; });
    }

    template <typename Test>
    void forget_if(Test&& test) {
        std::erase_if(more_, test);
        if (!first_ || !test(*first_)) return;
        first_.reset();
        if (more_.empty()) return;
        first_ = more_.back();
        more_.pop_back();
    }

    bool line_;
    std::vector<place> queue_;
    arrival last_ = 0;
    std::optional<holding> first_;  // of the holders; most have no company, and need no more memory
    std::vector<holding> more_;
};

}  // namespace holdfast::core
