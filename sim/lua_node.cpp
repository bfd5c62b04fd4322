#include "sim/lua_node.hpp"

#include <lua.hpp>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace holdfast::sim {
namespace {

// What the running script works on. C functions of Lua find it through the registry.
struct running {
    keyspace* data = nullptr;
    keyspace::wall_time now{};
};

constexpr std::size_t most_arguments = 16;
char context_key = 0;  // its address is the key in Lua's registry

running& context(lua_State* lua) {
    lua_pushlightuserdata(lua, &context_key);
    lua_rawget(lua, LUA_REGISTRYINDEX);
    auto* found = static_cast<running*>(lua_touserdata(lua, -1));
    lua_pop(lua, 1);
    return *found;
}

std::string_view text_at(lua_State* lua, int index) {
    std::size_t length = 0;
    const char* text = lua_tolstring(lua, index, &length);
    return {text, length};
}

void push_text(lua_State* lua, std::string_view text) {
    lua_pushlstring(lua, text.data(), text.size());
}

void push_tagged(lua_State* lua, const char* tag, std::string_view text) {
    lua_createtable(lua, 0, 1);
    push_text(lua, text);
    lua_setfield(lua, -2, tag);
}

void push(lua_State* lua, const value& v) {
    switch (v.what) {
        case value::kind::nil: lua_pushboolean(lua, 0); break;
        case value::kind::integer: lua_pushnumber(lua, static_cast<lua_Number>(v.number)); break;
        case value::kind::bulk: push_text(lua, v.text); break;
        case value::kind::status: push_tagged(lua, "ok", v.text); break;
        case value::kind::error: push_tagged(lua, "err", v.text); break;
        case value::kind::array:
            lua_createtable(lua, static_cast<int>(v.items.size()), 0);
            for (std::size_t i = 0; i < v.items.size(); ++i) {
                push(lua, v.items[i]);
                lua_rawseti(lua, -2, static_cast<int>(i) + 1);
            }
            break;
    }
}

std::string field(lua_State* lua, int table, const char* name) {
    lua_getfield(lua, table, name);
    const bool is_text = lua_type(lua, -1) == LUA_TSTRING;
    std::string found(is_text ? text_at(lua, -1) : std::string_view{});
    lua_pop(lua, 1);
    return found;
}

value pop(lua_State* lua);

value pop_table(lua_State* lua) {
    const int table = lua_gettop(lua);
    value result;
    if (auto err = field(lua, table, "err"); !err.empty()) {
        result = value::error(err);
    } else if (auto ok = field(lua, table, "ok"); !ok.empty()) {
        result = value::status(ok);
    } else {
        result = value::array({});
        result.items.reserve(3);  // what the scripts answer
        for (int i = 1;; ++i) {   // an array ends at its first nil
            lua_rawgeti(lua, table, i);
            if (lua_isnil(lua, -1)) break;
            result.items.push_back(pop(lua));
        }
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    return result;
}

value pop(lua_State* lua) {
    value result;
    switch (lua_type(lua, -1)) {
        case LUA_TTABLE: return pop_table(lua);
        case LUA_TSTRING: result = value::bulk(text_at(lua, -1)); break;
        case LUA_TNUMBER:  // a fraction is cut off
            result = value::integer(static_cast<std::int64_t>(lua_tonumber(lua, -1)));
            break;
        case LUA_TBOOLEAN:
            if (lua_toboolean(lua, -1)) result = value::integer(1);
            break;
        default: break;
    }
    lua_pop(lua, 1);
    return result;
}

// Numbers become text with 17 digits, where Lua itself would stop at 14.
void spell_out_numbers(lua_State* lua, int count) {
    for (int i = 1; i <= count; ++i) {
        if (lua_type(lua, i) != LUA_TNUMBER) continue;
        std::array<char, 64> digits{};
        const int length =
            std::snprintf(digits.data(), digits.size(), "%.17g", lua_tonumber(lua, i));
        lua_pushlstring(lua, digits.data(), static_cast<std::size_t>(length));
        lua_replace(lua, i);
    }
}

// Pushes the answer. Holds nothing that a jump out of a C function would leak.
bool execute(lua_State* lua) {
    const int count = lua_gettop(lua);
    if (count == 0 || count > static_cast<int>(most_arguments)) {
        push_tagged(lua, "err", "ERR Please specify at least one argument for this redis lib call");
        return false;
    }
    spell_out_numbers(lua, count);
    std::array<std::string_view, most_arguments> command;
    for (int i = 0; i < count; ++i) {
        if (lua_type(lua, i + 1) != LUA_TSTRING) {
            push_tagged(lua, "err",
                        "ERR Lua redis lib command arguments must be strings or integers");
            return false;
        }
        command[static_cast<std::size_t>(i)] = text_at(lua, i + 1);
    }
    auto& at = context(lua);
    const auto answer =
        at.data->execute(std::span(command).first(static_cast<std::size_t>(count)), at.now);
    push(lua, answer);
    return !answer.is(value::kind::error);
}

int redis_pcall(lua_State* lua) {
    execute(lua);
    return 1;
}

int redis_call(lua_State* lua) { return execute(lua) ? 1 : lua_error(lua); }

void push_list(lua_State* lua, keyspace::arguments all) {
    lua_createtable(lua, static_cast<int>(all.size()), 0);
    for (std::size_t i = 0; i < all.size(); ++i) {
        push_text(lua, all[i]);
        lua_rawseti(lua, -2, static_cast<int>(i) + 1);
    }
}

value pop_failure(lua_State* lua) {
    auto raised = pop(lua);  // a table {err = ...}, or the text of a fault in the script itself
    return raised.is(value::kind::error) ? raised : value::error("ERR " + raised.text);
}

}  // namespace

lua_runner::lua_runner() : lua_(luaL_newstate()) {
    auto* lua = lua_.get();
    luaL_openlibs(lua);
    lua_createtable(lua, 0, 2);
    lua_pushcfunction(lua, redis_call);
    lua_setfield(lua, -2, "call");
    lua_pushcfunction(lua, redis_pcall);
    lua_setfield(lua, -2, "pcall");
    lua_setglobal(lua, "redis");
}

void lua_runner::closer::operator()(lua_State* lua) const { lua_close(lua); }

lua_runner::script_handle lua_runner::compile(std::string_view text) {
    auto* lua = lua_.get();
    if (luaL_loadbuffer(lua, text.data(), text.size(), "@script") != 0) {
        const std::string why(text_at(lua, -1));
        lua_pop(lua, 1);
        throw std::invalid_argument(why);
    }
    return luaL_ref(lua, LUA_REGISTRYINDEX);
}

value lua_runner::run(script_handle script, keyspace::arguments keys, keyspace::arguments arguments,
                      keyspace& data, keyspace::wall_time now) {
    auto* lua = lua_.get();
    running at{&data, now};
    lua_pushlightuserdata(lua, &context_key);
    lua_pushlightuserdata(lua, &at);
    lua_rawset(lua, LUA_REGISTRYINDEX);
    push_list(lua, keys);
    lua_setglobal(lua, "KEYS");
    push_list(lua, arguments);
    lua_setglobal(lua, "ARGV");
    lua_rawgeti(lua, LUA_REGISTRYINDEX, script);
    return lua_pcall(lua, 0, 1, 0) == 0 ? pop(lua) : pop_failure(lua);
}

}  // namespace holdfast::sim
