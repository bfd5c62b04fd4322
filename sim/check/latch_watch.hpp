#pragma once

#include <cstdint>
#include <vector>

#include "sim/world/world.hpp"

namespace holdfast::sim {

class checkers;

/// Watches latches, one after the other: none is open for anybody before as many have begun to
/// count down as it takes, whatever was repeated; and where nothing goes wrong, who waits is told
/// soon.
class latch_watch {
  public:
    latch_watch(world& in, checkers& reports) : world_(in), reports_(reports) {}

    void waits(std::size_t round);
    void begins_to_count(std::size_t round);
    void has_counted(std::size_t round);
    void told_open(std::size_t round, instant asked);

    /// How often anybody was told that one is open.
    [[nodiscard]] std::uint64_t passed() const { return passed_; }
    /// The last that anybody has begun with.
    [[nodiscard]] std::size_t last() const { return rounds_.empty() ? 0 : rounds_.size() - 1; }

  private:
    struct round_state {
        std::uint32_t begun = 0;
        std::uint32_t counted = 0;
        instant complete{};  // when the last that it takes had counted
    };
    round_state& at(std::size_t round);

    world& world_;
    checkers& reports_;
    std::vector<round_state> rounds_;
    std::uint64_t passed_ = 0;
};

}  // namespace holdfast::sim
