#include "sim/server/lua_patterns.hpp"

#include <lua.hpp>

namespace holdfast::sim {
namespace {

// Then they are forgotten: most of the texts belong to runs that are over.
constexpr lua_Integer most_matches = 1000;

enum upvalue : int {
    original = lua_upvalueindex(1),
    found = lua_upvalueindex(2),  // by pattern, by text; false: nothing
    count = lua_upvalueindex(3),
};

int call_original(lua_State* lua) {
    lua_pushvalue(lua, original);
    lua_insert(lua, 1);
    lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
    return lua_gettop(lua);
}

// Pushes the table of what was found by the pattern at 2.
void push_texts(lua_State* lua) {
    lua_pushvalue(lua, 2);
    lua_rawget(lua, found);
    if (!lua_isnil(lua, -1)) return;
    lua_pop(lua, 1);
    lua_newtable(lua);
    lua_pushvalue(lua, 2);
    lua_pushvalue(lua, -2);
    lua_rawset(lua, found);
}

void count_one_more(lua_State* lua) {
    const auto now = lua_tointeger(lua, count) + 1;
    const bool full = now > most_matches;
    if (full) {
        lua_newtable(lua);
        lua_replace(lua, found);
    }
    lua_pushinteger(lua, full ? 0 : now);
    lua_replace(lua, count);
}

// Text, pattern and the table of texts are on the stack. What has several captures is not kept.
int match_and_remember(lua_State* lua) {
    lua_pushvalue(lua, original);
    lua_pushvalue(lua, 1);
    lua_pushvalue(lua, 2);
    lua_call(lua, 2, LUA_MULTRET);
    const int results = lua_gettop(lua) - 3;
    if (results != 1) return results;
    lua_pushvalue(lua, 1);
    if (lua_isnil(lua, 4)) {
        lua_pushboolean(lua, 0);
    } else {
        lua_pushvalue(lua, 4);
    }
    lua_rawset(lua, 3);
    count_one_more(lua);
    return 1;
}

int match(lua_State* lua) {
    const bool plain =
        lua_gettop(lua) == 2 && lua_type(lua, 1) == LUA_TSTRING && lua_type(lua, 2) == LUA_TSTRING;
    if (!plain) return call_original(lua);
    push_texts(lua);
    lua_pushvalue(lua, 1);
    lua_rawget(lua, 3);
    if (lua_isnil(lua, 4)) {
        lua_pop(lua, 1);
        return match_and_remember(lua);
    }
    if (!lua_toboolean(lua, 4)) lua_pushnil(lua);
    return 1;
}

}  // namespace

void remember_matches(lua_State* lua) {
    lua_getglobal(lua, "string");
    lua_getfield(lua, -1, "match");
    lua_newtable(lua);
    lua_pushinteger(lua, 0);
    lua_pushcclosure(lua, match, 3);
    lua_setfield(lua, -2, "match");
    lua_pop(lua, 1);
}

}  // namespace holdfast::sim
