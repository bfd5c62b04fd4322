#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/server/keyspace.hpp"
#include "sim/server/lua_memory.hpp"
#include "sim/server/value.hpp"

struct lua_State;

/// Runs the text of a script as a server would: Lua 5.1, `KEYS`, `ARGV`, `redis.call`,
/// `redis.pcall`, and the server's conversions between Lua and the protocol in both directions.
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
    /// its tables KEYS and ARGV from run to run. REQUIRES: it only reads them.
    value run(script_handle script, keyspace::arguments keys, keyspace::arguments arguments,
              keyspace& data, keyspace::wall_time now);

    /// What the running script works on.
    struct subject {
        keyspace* data = nullptr;
        keyspace::wall_time now{};
        int fault_line = 0;
    };

    /// The line in which the last run failed, which a server tells. 0: it returned.
    [[nodiscard]] int fault_line() const { return subject_.fault_line; }

  private:
    struct closer {
        void operator()(lua_State* lua) const;
    };

    void offer(const char* called, int (*command)(lua_State*));
    void fill(int table, keyspace::arguments all);

    lua_memory memory_;
    std::unique_ptr<lua_State, closer> lua_;
    subject subject_;
    std::vector<std::vector<std::string>> words_;  // what is in each KEYS and ARGV, by its place
};

}  // namespace holdfast::sim
