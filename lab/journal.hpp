#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::lab {

/// What happened in one cell, in order, with the time since it began.
///
/// Thread safety: all members from any thread; read by others once the cell is over.
class journal {
  public:
    struct entry {
        std::chrono::milliseconds at;
        bool on_the_wire;  // a command or an answer, rather than a step of the script
        std::string text;
    };

    void step(std::string text) { add(false, std::move(text)); }
    void wire(std::string text) { add(true, std::move(text)); }

    [[nodiscard]] std::chrono::milliseconds elapsed() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - began_);
    }
    /// Leaves out what begins with `whose` from the entry `from` on: one more of many alike.
    void forget(std::size_t from, std::string_view whose) {
        const std::scoped_lock guard(mutex_);
        entries_.erase(
            std::remove_if(entries_.begin() + static_cast<std::ptrdiff_t>(from), entries_.end(),
                           [&](const entry& each) { return each.text.starts_with(whose); }),
            entries_.end());
    }
    [[nodiscard]] std::size_t size() const {
        const std::scoped_lock guard(mutex_);
        return entries_.size();
    }
    [[nodiscard]] std::vector<entry> entries() const {
        const std::scoped_lock guard(mutex_);
        return entries_;
    }

  private:
    void add(bool on_the_wire, std::string text) {
        const std::scoped_lock guard(mutex_);
        entries_.push_back({elapsed(), on_the_wire, std::move(text)});
    }

    const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    mutable std::mutex mutex_;
    std::vector<entry> entries_;
};

}  // namespace holdfast::lab
