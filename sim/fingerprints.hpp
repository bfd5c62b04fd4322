#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast::sim {

/// The states that were seen, as 128 bits of each: enough for a search of any size that fits into
/// a machine (two of 10^9 states are confused with a probability below 10^-20).
class fingerprints {
  public:
    /// Returns false if it was there already.
    template <typename State>
    bool insert(const State& s) {
        static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % 8 == 0);
        return insert_print(digest(reinterpret_cast<const unsigned char*>(&s), sizeof s));
    }

    [[nodiscard]] std::size_t size() const { return count_; }

  private:
    struct print {
        std::uint64_t high = 0;
        std::uint64_t low = 0;
        friend bool operator==(const print&, const print&) = default;
    };

    static print digest(const unsigned char* bytes, std::size_t size) {
        print p{0x9e3779b97f4a7c15U, 0xc2b2ae3d27d4eb4fU};
        for (std::size_t i = 0; i < size; i += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes + i, 8);
            p.high = std::rotl((p.high ^ word) * 0xff51afd7ed558ccdU, 31);
            p.low = std::rotl((p.low + word) * 0xc4ceb9fe1a85ec53U, 27) ^ p.high;
        }
        p.high ^= p.low >> 29U;
        return p == print{} ? print{1, 1} : p;
    }

    bool insert_print(const print& p) {
        if (count_ * 3 >= table_.size() * 2) grow();
        auto& place = find(p);
        if (place == p) return false;
        place = p;
        ++count_;
        return true;
    }

    print& find(const print& p) {
        auto at = p.high & (table_.size() - 1);
        while (table_[at] != print{} && table_[at] != p) at = (at + 1) & (table_.size() - 1);
        return table_[at];
    }

    void grow() {
        auto old = std::exchange(table_, std::vector<print>(table_.size() * 2));
        for (const auto& p : old) {
            if (p != print{}) find(p) = p;
        }
    }

    std::vector<print> table_ = std::vector<print>(1U << 16U);
    std::size_t count_ = 0;
};

}  // namespace holdfast::sim
