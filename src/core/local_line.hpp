#pragma once

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

class local_line {
  public:
    /// Returns true if it is this caller's turn at once.
    bool join(local_id caller) {
        line_.push_back(caller);
        return !holder_ && line_.size() == 1;
    }

    /// Returns whose turn it is now, if that changed.
    std::optional<local_id> leave(local_id caller) {
        const bool was_head = !line_.empty() && line_.front() == caller;
        std::erase(line_, caller);
        return was_head ? head() : std::nullopt;
    }

    /// `hold` now holds the key. It may have come by itself (an attempt that does not wait).
    void took(local_id hold) {
        holder_ = hold;
        std::erase(line_, hold);
    }

    /// The hold was released or lost. Returns whose turn it is now, if that changed. A hold that
    /// has been replaced meanwhile changes nothing.
    std::optional<local_id> freed(local_id hold) {
        if (holder_ != hold) return std::nullopt;
        holder_.reset();
        return head();
    }

    /// Who would be next if the holder let go now.
    [[nodiscard]] std::optional<local_id> heir() const {
        return line_.empty() ? std::nullopt : std::optional{line_.front()};
    }

    [[nodiscard]] std::size_t size() const { return line_.size(); }
    [[nodiscard]] std::optional<local_id> holder() const { return holder_; }
    [[nodiscard]] bool idle() const { return !holder_ && line_.empty(); }

  private:
    [[nodiscard]] std::optional<local_id> head() const {
        return holder_ || line_.empty() ? std::nullopt : std::optional{line_.front()};
    }

    std::vector<local_id> line_;
    std::optional<local_id> holder_;
};

}  // namespace holdfast::core
