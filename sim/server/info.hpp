#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/server/life.hpp"
#include "sim/server/replication.hpp"

namespace holdfast::sim {

/// How a server is set up. What a restart may change, it changes.
struct server_settings {
    /// Whom a script's reads concern, of a connection that asked to be told. The same releases
    /// differ in where a message to its own sender stands: before its answer, or behind it.
    enum class script_tracking : std::uint8_t {
        declared_keys,  // Redis 7.0: all KEYS, as soon as the script reads anything
        read_keys,      // Redis 7.2 and later, Valkey: the keys that it reads
    };
    struct user {
        std::string name;
        std::string password;
    };

    std::string version = "7.0.15";
    std::string mode = "standalone";  // or "sentinel", "cluster"
    script_tracking tracks = script_tracking::declared_keys;
    std::string password{};     // of the default user; empty: it needs none
    std::vector<user> users{};  // beside that one
    std::string eviction_policy = "noeviction";
    std::uint64_t maxmemory = 0;
    bool append_only = false;
    std::string append_fsync = "everysec";
    std::string save{};
};

/// Appends a section of INFO: "server", "memory", "persistence" or "replication", as far as the
/// library reads it; that of the replication as a whole. Appends nothing for others. The fields
/// that are there stand in the order in which Redis 7 has them.
void append_section(std::string& out, std::string_view section, const server_settings& how,
                    const life& of, const replication_standing& stands, bool loading);

/// What CONFIG GET says of a setting; null: there is none of that name here.
const std::string* setting_named(std::string_view name, const server_settings& how,
                                 std::string& room);

}  // namespace holdfast::sim
