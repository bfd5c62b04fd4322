#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/world/world.hpp"

namespace holdfast::sim {

/// What clients have seen of the servers' clocks: whether one must know by now that a clock has
/// jumped, and may not ask that server for its vote.
class clock_looks {
  public:
    explicit clock_looks(world& in) : world_(in) {}

    void jumped(std::uint32_t server, core::duration by);

    /// A server has said what its clock shows, to a request that the client wrote at `asked`. The
    /// client has read it when it has read `by_byte` bytes of that connection.
    void answered(std::uint32_t client, std::uint32_t server, std::uint32_t connection,
                  instant asked, std::uint64_t by_byte);
    /// `excused`: the process stood still meanwhile, and may have measured anything.
    template <typename Excused>
    void was_read(std::uint32_t connection, std::uint64_t bytes, instant at, Excused&& excused) {
        while (!under_way_.empty()) {
            auto& all = of(connection);
            if (all.empty() || all.front().by_byte > bytes) return;
            const auto first = all.front();
            all.erase(all.begin());
            told(first, at, excused(first.asked, at));
        }
    }

    /// Of a request that was written at that time.
    [[nodiscard]] bool must_know_of_jump(std::uint32_t client, std::uint32_t server,
                                         instant at) const {
        const auto& last = samples_[client][server];
        return at > last.void_from && at < last.void_until;
    }

  private:
    struct look {
        std::uint32_t client = 0;
        std::uint32_t server = 0;
        std::uint32_t connection = 0;
        instant asked{};
        std::uint64_t by_byte = 0;
    };
    struct sample {
        std::uint32_t on = 0;
        bool seen = false;
        instant asked{};
        instant told{};
        instant void_from{};
        instant void_until{};
    };
    struct jump {
        instant at{};
        std::uint32_t server = 0;
        core::duration by{};
    };

    std::vector<look>& of(std::uint32_t connection) {
        if (under_way_.size() <= connection) under_way_.resize(connection + 1);
        return under_way_[connection];
    }
    void told(const look& what, instant at, bool excused);
    [[nodiscard]] core::duration jump_between(std::uint32_t server, instant from, instant to) const;

    world& world_;
    std::vector<jump> jumps_;
    std::vector<std::vector<look>> under_way_;  // by connection
    std::array<std::array<sample, 8>, 8> samples_{};
};

}  // namespace holdfast::sim
