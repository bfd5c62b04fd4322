#pragma once

#include "base/locks.hpp"
#include "holdfast/operate.hpp"
#include "net/endpoint.hpp"
#include "operate/interview.hpp"

namespace holdfast::detail {

/// What the Sentinels of a group say, each asked over a connection of its own.
std::vector<sentinel_report> ask_sentinels(const net::endpoint& group,
                                           const options& settings) HOLDFAST_UNLOCKED;

/// The replicas that a master has connected, by what it says of itself.
std::vector<replica_report> replicas_in(std::string_view info);

/// Asks each of them for what only it knows, over a connection of its own.
void ask_replicas(std::vector<replica_report>& all, const net::endpoint& group,
                  const options& settings) HOLDFAST_UNLOCKED;

/// How many servers the group has, and how many of them have to acknowledge, by what was found.
void count_members(group_report& group, const options& settings);

/// min-replicas-to-write of who is asked; nullopt: it would not say.
std::optional<std::uint64_t> replicas_to_write(interview& with) HOLDFAST_LOCKED;

}  // namespace holdfast::detail
