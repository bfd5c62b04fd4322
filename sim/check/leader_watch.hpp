#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/world/world.hpp"

namespace holdfast::sim {

class checkers;
class key_watch;

/// Watches what the observers of an election are told: of nobody in another term than its own, or
/// with another's value; of no term that is older than the one before. That they are told of who
/// leads, and soon, and that all servers that elected it have noted its term, is looked at where
/// nothing goes wrong.
class leader_watch {
  public:
    leader_watch(world& in, checkers& reports, const key_watch& keys)
        : world_(in), reports_(reports), keys_(keys), told_(in.settings().clients) {}

    /// Term 0: nobody.
    struct leading {
        std::string owner{};
        std::uint64_t term = 0;
        std::string value{};
        friend bool operator==(const leading&, const leading&) = default;
    };

    void elected(leading who);
    /// It lets go.
    void resigns(std::string_view owner);
    void told(std::uint32_t client, const leading& of_whom);

    /// How often anybody was told of a leader.
    [[nodiscard]] std::uint64_t tidings() const { return tidings_; }

  private:
    void compare(const leading& real, const leading& said);

    world& world_;
    checkers& reports_;
    const key_watch& keys_;
    struct reign {
        leading who;
        instant since{};
    };
    std::map<std::string, reign, std::less<>> reigns_;      // by owner, the latest
    std::map<std::string, leading, std::less<>> foretold_;  // before they knew themselves
    struct told_last {
        bool anything = false;
        leading of{};
    };
    std::vector<told_last> told_;  // each client's
    std::uint64_t tidings_ = 0;
};

}  // namespace holdfast::sim
