#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace holdfast::sim {

/// The states that were seen, as 64 bits of each: of n states one is taken for another, and what
/// follows from it missed, with a probability of about n*n / 2^65 (10^8 states: 1 in 3,700).
///
/// Thread safety: `insert` and `size` may be called from any thread.
class fingerprints {
  public:
    /// Returns false if it was there already.
    bool insert(std::uint64_t print) {
        auto& its = parts_[print % part_count];
        const std::scoped_lock held(its.mutex);
        return its.insert(print == 0 ? 1 : print);
    }

    [[nodiscard]] std::uint64_t size() const {
        std::uint64_t sum = 0;
        for (auto& each : parts_) {
            const std::scoped_lock held(each.mutex);
            sum += each.count;
        }
        return sum;
    }

  private:
    static constexpr std::size_t part_count = 256;

    struct part {
        mutable std::mutex mutex;
        std::vector<std::uint64_t> table = std::vector<std::uint64_t>(1024);
        std::uint64_t count = 0;

        bool insert(std::uint64_t print) {
            if (count * 5 >= table.size() * 4) grow();
            auto& place = find(print);
            if (place == print) return false;
            place = print;
            ++count;
            return true;
        }

        std::uint64_t& find(std::uint64_t print) {
            auto at = (print >> 16U) % table.size();
            while (table[at] != 0 && table[at] != print) at = at + 1 == table.size() ? 0 : at + 1;
            return table[at];
        }

        // By half: twice the size would leave most of a large machine's memory unused.
        void grow() {
            const auto old =
                std::exchange(table, std::vector<std::uint64_t>(table.size() + table.size() / 2));
            for (const auto print : old) {
                if (print != 0) find(print) = print;
            }
        }
    };

    std::array<part, part_count> parts_;
};

}  // namespace holdfast::sim
