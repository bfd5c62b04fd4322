#include "sim/world/incident.hpp"

#include <algorithm>
#include <array>

namespace holdfast::sim {

std::span<const fault> kinds_of_incidents() {
    static constexpr std::array all{
        fault::partition,     fault::deafness,     fault::crash_full,   fault::crash_partial,
        fault::crash_empty,   fault::node_pause,   fault::client_pause, fault::wall_jump,
        fault::flushall,      fault::script_flush, fault::resync,       fault::refusal,
        fault::key_deleted,   fault::client_kill,  fault::permission,   fault::demotion,
        fault::client_crash,  fault::failover,     fault::isolation,    fault::replica_lag,
        fault::stale_sentinel};
    return all;
}

incident draw_incident(fault what, const plan& settings, random& chance) {
    incident drawn{.what = what};
    drawn.at = chance.between(core::duration{0}, std::min(settings.troubled, settings.length));
    drawn.server = static_cast<std::uint32_t>(chance.below(settings.servers()));
    drawn.client = static_cast<std::uint32_t>(chance.below(settings.clients));
    const auto longest =
        what == fault::client_pause ? settings.timing.ttl * 3 : settings.longest_outage;
    drawn.lasts = chance.between(std::chrono::milliseconds(1), longest);
    drawn.size = chance.between(-settings.wall_jump, settings.wall_jump);
    drawn.variety = static_cast<std::uint32_t>(chance.next());
    return drawn;
}

}  // namespace holdfast::sim
