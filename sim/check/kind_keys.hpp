#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/server/keyspace.hpp"
#include "sim/world/plan.hpp"

/// The keys of a world whose callers want something else than a mutex, and what servers have there.
namespace holdfast::sim {

/// A bit for each thing that one alone can have: the slots of a semaphore, or keys. A mutex is one.
using places = std::uint64_t;

inline constexpr std::string_view semaphore_key = "permits";
inline constexpr std::array<std::string_view, 3> several_keys{"a", "b", "c"};
inline constexpr std::string_view election_key = "election";

/// Where servers keep who holds: the keys that the callers of the plan name.
std::span<const std::string_view> locks_of(const kind_plan& kind);
std::string queue_beside(std::string_view lock);

/// Somebody holds a lock, or one permit of a semaphore.
struct possession {
    std::string owner;
    std::uint32_t slot = 0;
    std::int64_t until_ms = 0;  // by the server's clock
};

/// Those whose time is not over.
std::vector<possession> possessions_at(const keyspace& data, std::string_view lock,
                                       keyspace::wall_time now);

/// What a candidate leads with.
std::string value_of_candidate(std::uint32_t client, std::uint32_t caller);

/// Until when all of these places are the owner's; 0: one of them is not.
std::int64_t held_until_ms(const keyspace& data, const kind_plan& kind, std::string_view owner,
                           places what, keyspace::wall_time now);

/// How many stand in line, for all of them together.
std::size_t in_line(const keyspace& data, const kind_plan& kind, keyspace::wall_time now);
/// Nobody holds anything, or stands in line.
bool is_deserted(const keyspace& data, const kind_plan& kind, keyspace::wall_time now);

}  // namespace holdfast::sim
