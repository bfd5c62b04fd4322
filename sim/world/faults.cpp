#include "sim/world/faults.hpp"

namespace holdfast::sim {
namespace {

constexpr std::array<std::string_view, fault_count> names{
    "delay",          "loss",         "reset_before",  "reset_after", "partition",
    "deafness",       "crash_full",   "crash_partial", "crash_empty", "node_pause",
    "client_pause",   "clock_rate",   "wall_skew",     "wall_jump",   "flushall",
    "script_flush",   "slow_node",    "deaf_tracking", "resync",      "refusal",
    "key_deleted",    "pieces",       "client_kill",   "permission",  "demotion",
    "other_settings", "client_crash", "failover",      "isolation",   "replica_lag",
    "stale_sentinel"};

}  // namespace

std::string_view name_of(fault f) { return names[static_cast<std::size_t>(f)]; }

std::optional<fault> fault_named(std::string_view name) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<fault>(i);
    }
    return std::nullopt;
}

std::string fault_set::to_string() const {
    std::string list;
    for_each([&](fault f) {
        if (!list.empty()) list += ',';
        list += name_of(f);
    });
    return list.empty() ? "none" : list;
}

std::optional<fault_set> fault_set::parse(std::string_view list) {
    fault_set result;
    if (list == "none") return result;
    while (!list.empty()) {
        const auto comma = list.find(',');
        const auto found = fault_named(list.substr(0, comma));
        if (!found) return std::nullopt;
        result.insert(*found);
        list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    }
    return result;
}

}  // namespace holdfast::sim
