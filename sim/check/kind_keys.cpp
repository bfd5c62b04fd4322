#include "sim/check/kind_keys.hpp"

#include <algorithm>
#include <array>

#include "kinds/keys.hpp"
#include "kinds/semaphore.hpp"
#include "sim/check/holders.hpp"

namespace holdfast::sim {
namespace {

constexpr std::array semaphores{semaphore_key};
constexpr std::array elections{election_key};

// As src/scripts/semaphore/permits.lua has it: whose hundredth of a second is not over.
std::vector<possession> permits_in(const keyspace::entry& semaphore, keyspace::wall_time now) {
    constexpr std::int64_t us_in_hundredth = 10'000;
    std::vector<possession> found;
    for (const auto& [member, score] : semaphore.members) {
        if (score <= 0) continue;  // how many there are, and which were given back
        const auto permit = kinds::read_permit(score);
        if (permit.over_at.count() <= now.count() / us_in_hundredth) continue;
        const bool kept = semaphore.expires_at_ms == keyspace::no_expiry;
        const auto until = permit.over_at.count() * 10;
        found.push_back(
            {member, permit.slot, kept ? until : std::min(until, semaphore.expires_at_ms)});
    }
    return found;
}

bool is_among(const possession& which, places wanted) { return (wanted >> which.slot & 1U) != 0; }

}  // namespace

std::span<const std::string_view> locks_of(const kind_plan& kind) {
    switch (kind.which) {
        case other_kind::none:
        case other_kind::latch: break;  // nobody holds any
        case other_kind::semaphore: return semaphores;
        case other_kind::several: return several_keys;
        case other_kind::election: return elections;
    }
    return {};
}

std::string queue_beside(std::string_view lock) { return kinds::queue_key(lock); }

std::string value_of_candidate(std::uint32_t client, std::uint32_t caller) {
    return std::to_string(client) + "." + std::to_string(caller);
}

std::vector<possession> possessions_at(const keyspace& data, std::string_view lock,
                                       keyspace::wall_time now) {
    const auto* const found = data.peek(lock, now);
    if (found == nullptr) return {};
    if (found->is_sorted_set()) return permits_in(*found, now);
    const bool for_ever = found->expires_at_ms == keyspace::no_expiry;
    return {{found->text, 0, for_ever ? for_ever_ms : found->expires_at_ms}};
}

std::int64_t held_until_ms(const keyspace& data, const kind_plan& kind, std::string_view owner,
                           places what, keyspace::wall_time now) {
    if (kind.which == other_kind::semaphore) {
        for (const auto& each : possessions_at(data, semaphore_key, now)) {
            if (each.owner == owner && is_among(each, what)) return each.until_ms;
        }
        return 0;
    }
    auto until = for_ever_ms;
    const auto locks = locks_of(kind);
    for (std::size_t n = 0; n < locks.size(); ++n) {
        if ((what >> n & 1U) == 0) continue;
        const auto held = possessions_at(data, locks[n], now);
        if (held.empty() || held.front().owner != owner) return 0;
        until = std::min(until, held.front().until_ms);
    }
    return until;
}

std::size_t in_line(const keyspace& data, const kind_plan& kind, keyspace::wall_time now) {
    std::size_t all = 0;
    for (const auto lock : locks_of(kind)) {
        const auto* const queue = data.peek(queue_beside(lock), now);
        if (queue != nullptr) all += queue->items.size();
    }
    return all;
}

bool is_deserted(const keyspace& data, const kind_plan& kind, keyspace::wall_time now) {
    return std::ranges::all_of(locks_of(kind), [&](std::string_view lock) {
        return possessions_at(data, lock, now).empty() &&
               data.peek(queue_beside(lock), now) == nullptr;
    });
}

}  // namespace holdfast::sim
