#include "sim/server/lua_runner.hpp"

#include <lua.hpp>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "sim/server/lua_numbers.hpp"
#include "sim/server/lua_patterns.hpp"

namespace holdfast::sim {
namespace {

constexpr std::size_t most_arguments = 16;

// In percent of what was alive after the last one. What the scripts leave behind is little beside
// what is always there, and would be marked again each time; but rarer than this the garbage does
// not stay in the processor's caches (400 seeds: 4 % more at 1000).
constexpr int rare_collections = 300;

// What every run needs waits at the bottom of the stack: these names, then who notes where a fault
// was, then the scripts. Looking it up would take as long as many a script.
enum name : int { err_name = 1, ok_name };
constexpr int fault_handler = ok_name + 1;

// What belongs to a script, counted from its handle, which is its place on the stack.
enum part : int { function, keys_table, arguments_table };

// What redis.call and redis.pcall bring along.
enum upvalue : int { subject = lua_upvalueindex(1), plain_ok = lua_upvalueindex(2) };

lua_runner::subject& subject_of(lua_State* lua) {
    return *static_cast<lua_runner::subject*>(lua_touserdata(lua, upvalue::subject));
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
        case value::kind::status:  // scripts only ask whether there is one, so it can be shared
            if (v.text == "OK") return lua_pushvalue(lua, upvalue::plain_ok);
            push_tagged(lua, "ok", v.text);
            break;
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

// The table keeps the text alive.
std::string_view field(lua_State* lua, int table, name which) {
    lua_pushvalue(lua, which);
    lua_rawget(lua, table);
    const bool is_text = lua_type(lua, -1) == LUA_TSTRING;
    const auto found = is_text ? text_at(lua, -1) : std::string_view{};
    lua_pop(lua, 1);
    return found;
}

void pop_into(lua_State* lua, value& result);

void read_table(lua_State* lua, value& result) {
    const int table = lua_gettop(lua);
    if (auto err = field(lua, table, err_name); !err.empty()) {
        result = value::error(err);
    } else if (auto ok = field(lua, table, ok_name); !ok.empty()) {
        result = value::status(ok);
    } else {
        result = value::array({});
        result.items.reserve(3);  // what the scripts answer
        for (int i = 1;; ++i) {   // an array ends at its first nil
            lua_rawgeti(lua, table, i);
            if (lua_isnil(lua, -1)) break;
            pop_into(lua, result.items.emplace_back());
        }
        lua_pop(lua, 1);
    }
}

// REQUIRES: `result` is nil.
void pop_into(lua_State* lua, value& result) {
    switch (lua_type(lua, -1)) {
        case LUA_TTABLE: read_table(lua, result); break;
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
}

value pop(lua_State* lua) {
    value result;
    pop_into(lua, result);
    return result;
}

// A number becomes text with 17 digits, where Lua itself would stop at 14.
void spell_out(lua_State* lua, int number) {
    std::array<char, 64> digits{};
    const int length =
        std::snprintf(digits.data(), digits.size(), "%.17g", lua_tonumber(lua, number));
    lua_pushlstring(lua, digits.data(), static_cast<std::size_t>(length));
    lua_replace(lua, number);
}

// Scripts are told of these two in other words than clients.
std::string_view as_scripts_hear_it(std::string_view error) {
    if (error.starts_with("ERR wrong number of arguments for")) {
        return "ERR Wrong number of args calling Redis command from script";
    }
    if (error.starts_with("ERR unknown command")) {
        return "ERR Unknown Redis command called from script";
    }
    return error;
}

// Pushes the answer. Holds nothing that a jump out of a C function would leak.
bool execute(lua_State* lua) {
    const int count = lua_gettop(lua);
    if (count == 0 || count > static_cast<int>(most_arguments)) {
        push_tagged(lua, "err", "ERR Please specify at least one argument for this redis lib call");
        return false;
    }
    std::array<std::string_view, most_arguments> command;
    for (int i = 0; i < count; ++i) {
        const auto type = lua_type(lua, i + 1);
        if (type == LUA_TNUMBER) {
            spell_out(lua, i + 1);
        } else if (type != LUA_TSTRING) {
            push_tagged(lua, "err",
                        "ERR Lua redis lib command arguments must be strings or integers");
            return false;
        }
        command[static_cast<std::size_t>(i)] = text_at(lua, i + 1);
    }
    auto& at = subject_of(lua);
    const auto answer =
        at.by->execute(std::span(command).first(static_cast<std::size_t>(count)), at.now);
    if (answer.is(value::kind::error)) {
        push_tagged(lua, "err", as_scripts_hear_it(answer.text));
        return false;
    }
    push(lua, answer);
    return true;
}

int redis_pcall(lua_State* lua) {
    execute(lua);
    return 1;
}

int redis_call(lua_State* lua) { return execute(lua) ? 1 : lua_error(lua); }

// The line of the innermost function that is the script's own: what raises may be C.
int note_fault(lua_State* lua) {
    lua_Debug where{};
    for (int level = 1; lua_getstack(lua, level, &where) != 0; ++level) {
        lua_getinfo(lua, "Sl", &where);
        if (where.currentline > 0) break;
    }
    subject_of(lua).fault_line = where.currentline;
    return 1;
}

void push_copy_of_globals(lua_State* lua) {
    lua_newtable(lua);
    const int copy = lua_gettop(lua);
    for (lua_pushnil(lua); lua_next(lua, LUA_GLOBALSINDEX) != 0;) {
        lua_pushvalue(lua, -2);
        lua_insert(lua, -2);
        lua_rawset(lua, copy);
    }
}

// For the script, and for us to fill.
void push_word_table(lua_State* lua, int surroundings, const char* called) {
    lua_createtable(lua, most_arguments, 0);
    lua_pushvalue(lua, -1);
    lua_setfield(lua, surroundings, called);
}

value pop_failure(lua_State* lua) {
    auto raised = pop(lua);  // a table {err = ...}, or the text of a fault in the script itself
    return raised.is(value::kind::error) ? raised : value::error("ERR " + raised.text);
}

}  // namespace

lua_runner::lua_runner() : lua_(lua_newstate(lua_memory::reallocate, &memory_)) {
    auto* lua = lua_.get();
    luaL_openlibs(lua);
    lua_gc(lua, LUA_GCSETPAUSE, rare_collections);
    quicken_whole_numbers(lua);
    remember_matches(lua);
    lua_createtable(lua, 0, 2);
    offer("call", redis_call);
    offer("pcall", redis_pcall);
    lua_setglobal(lua, "redis");
    push_text(lua, "err");
    push_text(lua, "ok");
    lua_pushlightuserdata(lua, &subject_);
    lua_pushcclosure(lua, note_fault, 1);
}

// Into the table on top of the stack.
void lua_runner::offer(const char* called, int (*command)(lua_State*)) {
    lua_pushlightuserdata(lua_.get(), &subject_);
    push_tagged(lua_.get(), "ok", "OK");
    lua_pushcclosure(lua_.get(), command, 2);
    lua_setfield(lua_.get(), -2, called);
}

void lua_runner::closer::operator()(lua_State* lua) const { lua_close(lua); }

lua_runner::script_handle lua_runner::compile(std::string_view text) {
    auto* lua = lua_.get();
    if (luaL_loadbuffer(lua, text.data(), text.size(), "@user_script") != 0) {
        const std::string why(text_at(lua, -1));
        lua_pop(lua, 1);
        throw std::invalid_argument(why);
    }
    const script_handle script = lua_gettop(lua);
    luaL_checkstack(lua, LUA_MINSTACK, "too many scripts");
    push_copy_of_globals(lua);
    const int surroundings = lua_gettop(lua);
    push_word_table(lua, surroundings, "KEYS");
    push_word_table(lua, surroundings, "ARGV");
    lua_pushvalue(lua, surroundings);
    lua_setfenv(lua, script);
    lua_remove(lua, surroundings);
    words_.resize(static_cast<std::size_t>(lua_gettop(lua)) + 1);
    return script;
}

// From one run to the next most words stay the same; those need not become Lua's again.
void lua_runner::fill(int table, command_executor::arguments all) {
    auto* lua = lua_.get();
    auto& held = words_[static_cast<std::size_t>(table)];
    held.resize(std::min(held.size(), lua_objlen(lua, table)));  // it may have taken some away
    for (; held.size() > all.size(); held.pop_back()) {
        lua_pushnil(lua);
        lua_rawseti(lua, table, static_cast<int>(held.size()));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i < held.size() && held[i] == all[i]) continue;
        if (i == held.size()) held.emplace_back();
        held[i] = all[i];
        push_text(lua, all[i]);
        lua_rawseti(lua, table, static_cast<int>(i) + 1);
    }
}

value lua_runner::run(script_handle script, command_executor::arguments keys,
                      command_executor::arguments arguments, command_executor& by,
                      command_executor::wall_time now) {
    auto* lua = lua_.get();
    subject_ = {&by, now, 0};
    fill(script + keys_table, keys);
    fill(script + arguments_table, arguments);
    lua_pushvalue(lua, script + function);
    return lua_pcall(lua, 0, 1, fault_handler) == 0 ? pop(lua) : pop_failure(lua);
}

}  // namespace holdfast::sim
