#include "sim/server/lua_numbers.hpp"

#include <lua.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace holdfast::sim {
namespace {

constexpr lua_Number largest_exact = 9007199254740992.0;  // 2^53

int call_original(lua_State* lua) {
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
    return lua_gettop(lua);
}

std::string_view text_at(lua_State* lua, int index) {
    std::size_t length = 0;
    const char* text = lua_tolstring(lua, index, &length);
    return {text, length};
}

int format(lua_State* lua) {
    const bool plain = lua_gettop(lua) == 2 && lua_type(lua, 1) == LUA_TSTRING &&
                       lua_type(lua, 2) == LUA_TNUMBER && text_at(lua, 1) == "%.0f";
    const auto number = plain ? lua_tonumber(lua, 2) : 0;
    if (!(number >= 1 && number <= largest_exact)) return call_original(lua);
    const auto whole = static_cast<std::int64_t>(number);
    if (static_cast<lua_Number>(whole) != number) return call_original(lua);
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), whole).ptr;
    lua_pushlstring(lua, digits.data(), static_cast<std::size_t>(end - digits.data()));
    return 1;
}

int to_number(lua_State* lua) {
    const bool plain = lua_gettop(lua) == 1 && lua_type(lua, 1) == LUA_TSTRING;
    const auto text = plain ? text_at(lua, 1) : std::string_view{};
    std::uint64_t whole = 0;
    const auto end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, whole);
    const auto number = static_cast<lua_Number>(whole);
    if (text.empty() || error != std::errc{} || stop != end || number > largest_exact) {
        return call_original(lua);
    }
    lua_pushnumber(lua, number);
    return 1;
}

// In the table at `table`.
void replace(lua_State* lua, int table, const char* name, lua_CFunction by) {
    lua_getfield(lua, table, name);
    lua_pushcclosure(lua, by, 1);
    lua_setfield(lua, table, name);
}

}  // namespace

void quicken_whole_numbers(lua_State* lua) {
    replace(lua, LUA_GLOBALSINDEX, "tonumber", to_number);
    lua_getglobal(lua, "string");
    replace(lua, lua_gettop(lua), "format", format);
    lua_pop(lua, 1);
}

}  // namespace holdfast::sim
