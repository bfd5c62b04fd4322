#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/server/keyspace.hpp"
#include "sim/server/server.hpp"

namespace holdfast::sim {

/// When a command is accepted, as COMMAND INFO says it.
enum command_flag : std::uint8_t {
    while_loading = 1,
    for_strangers = 2,  // and while a script runs that does not end
    writes = 4,
    grows = 8,            // refused without memory
    of_handshakes = 16,   // it may be part of one
    for_subscribers = 32  // in the older protocol
};

/// The command that runs.
struct server::call {
    server_session& from;
    const command_row& what;
    arguments words;
    reply_writer out;
    wall_time now;
    std::string_view name;  // of a script, as soon as that is known
    arguments keys{};
    arguments rest{};
    bool in_script = false;
};

struct command_row {
    std::uint64_t name;
    std::uint64_t second;  // word, of a command that has one; otherwise 0
    std::string_view full_name;
    int words;  // that it has; negative: at least so many
    unsigned flags;
    bool has_key;
    void (server::*run)(server::call&);
};

enum class lookup : std::uint8_t { found, unknown, unknown_second, wrong_count };

struct command_table {
    /// The row is set also where the number of words is wrong.
    static lookup find(keyspace::arguments words, const command_row*& row);

    static constexpr std::size_t size = 56;
    static const std::array<command_row, size> rows;
};

}  // namespace holdfast::sim
