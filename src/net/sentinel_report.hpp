#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/endpoint.hpp"
#include "resp/view.hpp"

namespace holdfast::net {

/// What one Sentinel says of a master.
struct sentinel_report {
    sentinel_group::address master{};
    std::size_t members = 0;  // the master and its replicas, those that are down too; 0: not said
    std::optional<std::uint64_t> epoch{};  // grows with every fail-over; none: not said

    friend bool operator==(const sentinel_report&, const sentinel_report&) = default;
};

/// Where Sentinels publish that another server has become the master.
inline constexpr std::string_view switch_channel = "+switch-master";

/// The questions: the first is for where the master is, also while a fail-over is under way, the
/// second for the group.
void append_ask_address(std::string& out, std::string_view master_name);
void append_ask_group(std::string& out, std::string_view master_name);

/// The answer to the first. nullopt: none that could be connected to.
std::optional<sentinel_group::address> read_master_address(resp::view reply);

/// The answer to the second, into `report`, as far as it says anything.
void read_group(resp::view reply, sentinel_report& report);

/// Whether a push tells that another server has become this master.
bool tells_of_switch(resp::view push, std::string_view master_name);

/// The names of the masters that a Sentinel watches, by its INFO: `'main', 'other'`; empty: none.
std::string watched_masters(std::string_view info);

}  // namespace holdfast::net
