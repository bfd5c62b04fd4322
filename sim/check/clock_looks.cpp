#include "sim/check/clock_looks.hpp"

#include <algorithm>

namespace holdfast::sim {
namespace {

// What clock_watch tolerates by default, and a margin: a jump beyond this must be noticed.
constexpr core::duration surely_noticed = std::chrono::milliseconds(150);

}  // namespace

void clock_looks::jumped(std::uint32_t server, core::duration by) {
    jumps_.push_back({world_.now(), server, by});
}

core::duration clock_looks::jump_between(std::uint32_t server, instant from, instant to) const {
    core::duration sum{};
    for (const auto& each : jumps_) {
        if (each.server == server && each.at > from && each.at <= to) sum += each.by;
    }
    return sum;
}

void clock_looks::answered(std::uint32_t client, std::uint32_t server, std::uint32_t connection,
                           instant asked, std::uint64_t by_byte) {
    of(connection).push_back({client, server, connection, asked, by_byte});
}

// A jump between two looks over one connection is noticed, unless it is small against the time
// that the looks themselves took. What was asked before may still wait to be written. An answer
// that comes too late is dropped, and nothing is learned from it; by a clock that is a little
// faster or slower than the client's own it cannot be said whether one that nearly did was.
void clock_looks::told(const look& what, instant at, bool excused) {
    const auto timeout = world_.settings().node_timeout;
    if (at - what.asked > timeout * 103 / 100) return;
    excused = excused || at - what.asked > timeout * 97 / 100;
    auto& last = samples_[what.client][what.server];
    const auto before = last;
    last = {.void_from = before.void_from, .void_until = before.void_until};
    if (excused) return;
    last.on = what.connection;
    last.seen = true;
    last.asked = what.asked;
    last.told = at;
    if (!before.seen || before.on != what.connection) return;
    const auto sum = jump_between(what.server, before.told, what.asked);
    const bool in_flight = jump_between(what.server, before.asked, at) != sum;
    const auto blur = (at - before.asked) / 40 + (at - what.asked) + (before.told - before.asked);
    if (in_flight || std::chrono::abs(sum) <= surely_noticed + blur) return;
    const auto& settings = world_.settings();
    if (before.void_until < at) last.void_from = at + settings.base_delay * 4;
    last.void_until = at + settings.max_ttl * 97 / 100;
}

}  // namespace holdfast::sim
