#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

/// The waiters of one process for one key, first come, first served. Only the head contends at
/// the servers, and only while no lease of this process is believed to hold the key: a thousand
/// threads cost the servers one contender, and a release and the next attempt share one write.
///
///                  holder      line                         whose turn
///   join           -           appended                     the new one, if alone and no holder
///   leave          -           taken out                    the next, if the head left; no holder
///   took           set         it is taken out, if there    nobody
///   freed          cleared     -                            the head
namespace holdfast::core {

/// Identifies one waiting caller or one hold within this process.
using local_id = std::uint64_t;

/// Who joined a line before whom: the first has 1, the next 2, and so on.
using arrival = std::uint64_t;

class local_line {
  public:
    struct place {
        local_id who;
        arrival joined;
        friend bool operator==(const place&, const place&) = default;
    };

    /// Returns true if it is this caller's turn at once.
    bool join(local_id caller) {
        line_.push_back({caller, ++last_});
        return !holder_ && line_.size() == 1;
    }

    /// Returns whose turn it is now, if that changed.
    std::optional<local_id> leave(local_id caller) {
        const bool was_head = !line_.empty() && line_.front().who == caller;
        take_out(caller);
        return was_head ? head() : std::nullopt;
    }

    /// `hold` now holds the key. It may have come by itself (an attempt that does not wait).
    void took(local_id hold) {
        holder_ = hold;
        take_out(hold);
    }

    /// The hold was released or lost. Returns whose turn it is now, if that changed. A hold that
    /// has been replaced meanwhile changes nothing.
    std::optional<local_id> freed(local_id hold) {
        if (holder_ != hold) return std::nullopt;
        holder_.reset();
        return head();
    }

    /// Who would be next if the holder let go now.
    [[nodiscard]] std::optional<place> heir() const {
        return line_.empty() ? std::nullopt : std::optional{line_.front()};
    }

    /// Without `caller`, wherever it stands.
    [[nodiscard]] std::size_t others_than(local_id caller) const {
        return static_cast<std::size_t>(std::count_if(
            line_.begin(), line_.end(), [&](const place& each) { return each.who != caller; }));
    }

    /// Of whoever joined last, even if it has left since.
    [[nodiscard]] arrival last_arrival() const { return last_; }

    [[nodiscard]] std::optional<local_id> holder() const { return holder_; }
    [[nodiscard]] bool idle() const { return !holder_ && line_.empty(); }

  private:
    [[nodiscard]] std::optional<local_id> head() const {
        return holder_ || line_.empty() ? std::nullopt : std::optional{line_.front().who};
    }

    void take_out(local_id who) {
        std::erase_if(line_, [&](const place& each) { return each.who == who; });
    }

    std::vector<place> line_;
    arrival last_ = 0;
    std::optional<local_id> holder_;
};

}  // namespace holdfast::core
