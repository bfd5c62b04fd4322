#pragma once

struct lua_State;

namespace holdfast::sim {

/// Makes what the scripts do with tokens fast: `string.format('%.0f', n)` and `tonumber(text)` of
/// whole numbers that a double holds exactly. Everything else is left to Lua, so that no script
/// can tell. (The C library's way took a sixth of an acquire.)
void quicken_whole_numbers(lua_State* lua);

}  // namespace holdfast::sim
