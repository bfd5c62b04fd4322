#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/server/command_executor.hpp"
#include "sim/server/lua_memory.hpp"
#include "sim/server/value.hpp"

struct lua_State;

/// Runs the text of a script as a server would: Lua 5.1, `KEYS`, `ARGV`, `redis.call`,
/// `redis.pcall`, and the server's conversions between Lua and the protocol in both directions.
/// Known differences: a command has 16 words at most; what `redis.call` raises is a table also for
/// Lua's own `pcall`, which is given the text by Redis 7.
///
/// Compiling is the expensive part and is done once per text: one runner serves all nodes of a
/// thread. Thread safety: distinct objects safe, one object by one thread.
namespace holdfast::sim {

class lua_runner {
  public:
    using script_handle = int;

    lua_runner();
    lua_runner(const lua_runner&) = delete;
    lua_runner& operator=(const lua_runner&) = delete;

    /// Throws std::invalid_argument with the compiler's message if the text is no script.
    script_handle compile(std::string_view text);

    /// One atomic run: the whole script sees one time, as in a server. Unlike there, a script keeps
    /// its tables KEYS and ARGV from run to run. REQUIRES: it only reads them, or takes words away
    /// from their ends.
    value run(script_handle script, command_executor::arguments keys,
              command_executor::arguments arguments, command_executor& by,
              command_executor::wall_time now);

    /// Who runs the commands of the running script, and when.
    struct subject {
        command_executor* by = nullptr;
        command_executor::wall_time now{};
        int fault_line = 0;
    };

    /// The line in which the last run failed, which a server tells. 0: it returned.
    [[nodiscard]] int fault_line() const { return subject_.fault_line; }

  private:
    struct closer {
        void operator()(lua_State* lua) const;
    };

    void offer(const char* called, int (*command)(lua_State*));
    void fill(int table, command_executor::arguments all);

    lua_memory memory_;
    std::unique_ptr<lua_State, closer> lua_;
    subject subject_;
    std::vector<std::vector<std::string>> words_;  // what is in each KEYS and ARGV, by its place
};

}  // namespace holdfast::sim
