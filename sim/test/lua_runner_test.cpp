// What a run leaves behind in the Lua state must not be seen by the next one.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "sim/server/keyspace.hpp"
#include "sim/server/lua_memory.hpp"
#include "sim/server/lua_runner.hpp"

namespace holdfast::sim {
namespace {

using words = std::vector<std::string_view>;

TEST(lua_runner, words_of_an_earlier_run_are_gone) {
    lua_runner lua;
    keyspace data;
    const auto script = lua.compile("return {#KEYS, KEYS[1] .. (KEYS[2] or '-'), #ARGV, ARGV[1]}");
    const auto run = [&](const words& keys, const words& arguments) {
        return lua.run(script, keys, arguments, data, {});
    };
    const auto answer = [](int keys, const char* text, int arguments, const char* first) {
        return value::array({value::integer(keys), value::bulk(text), value::integer(arguments),
                             value::bulk(first)});
    };
    EXPECT_EQ(run({"a", "b", "c"}, {"x"}), answer(3, "ab", 1, "x"));
    EXPECT_EQ(run({"a"}, {"y", "z"}), answer(1, "a-", 2, "y"));
    EXPECT_EQ(run({"a", "b"}, {"y"}), answer(2, "ab", 1, "y"));
    EXPECT_EQ(run({"b", "a"}, {"x"}), answer(2, "ba", 1, "x"));
}

TEST(lua_runner, words_that_an_earlier_run_took_away_are_there_again) {
    lua_runner lua;
    keyspace data;
    const auto script = lua.compile("return {table.remove(KEYS), KEYS[1], table.remove(ARGV)}");
    const auto expected = value::array({value::bulk("b"), value::bulk("a"), value::bulk("x")});
    for (int run = 0; run < 2; ++run) {
        EXPECT_EQ(lua.run(script, words{"a", "b"}, words{"x"}, data, {}), expected);
    }
}

TEST(lua_runner, every_command_sees_the_data_and_the_time_of_its_own_run) {
    lua_runner lua;
    keyspace here;
    keyspace there;
    const auto put = lua.compile("return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', 10)");
    const auto left = lua.compile("return redis.call('PTTL', KEYS[1])");
    const keyspace::wall_time now{5'000'000};
    EXPECT_EQ(lua.run(put, words{"a"}, words{"x"}, here, now), value::status("OK"));
    EXPECT_EQ(lua.run(put, words{"a"}, words{"y"}, here, now), value{});
    EXPECT_EQ(lua.run(left, words{"a"}, {}, there, now), value::integer(-2));
    EXPECT_EQ(lua.run(left, words{"a"}, {}, here, now + std::chrono::milliseconds(4)),
              value::integer(6));
}

TEST(lua_runner, an_error_leaves_the_next_run_unharmed) {
    lua_runner lua;
    keyspace data;
    const auto wrong = lua.compile("return redis.call('SET', KEYS[1])");
    const auto right = lua.compile("return {redis.pcall('GET', KEYS[1]), 1}");
    EXPECT_EQ(lua.run(wrong, words{"a"}, {}, data, {}),
              value::error("ERR Wrong number of args calling Redis command from script"));
    EXPECT_EQ(lua.run(right, words{"a"}, {}, data, {}), value::array({value{}, value::integer(1)}));
}

// Some are spelled and read by a short cut, the others by Lua itself.
TEST(lua_runner, spells_and_reads_numbers_as_lua_does) {
    lua_runner lua;
    keyspace data;
    const auto answer = [&](const std::string& expression) {
        const auto script = lua.compile("return tostring(" + expression + ")");
        return lua.run(script, {}, {}, data, {}).text;
    };
    EXPECT_EQ(answer("string.format('%.0f', 1700000000000001)"), "1700000000000001");
    EXPECT_EQ(answer("string.format('%.0f', 2^53)"), "9007199254740992");
    EXPECT_EQ(answer("string.format('%.0f', 2^60)"), "1152921504606846976");
    EXPECT_EQ(answer("string.format('%.0f', 2.5)"), "2");
    EXPECT_EQ(answer("string.format('%.0f', 3.5)"), "4");
    EXPECT_EQ(answer("string.format('%.0f', 0)"), "0");
    EXPECT_EQ(answer("string.format('%.0f', -7)"), "-7");
    EXPECT_EQ(answer("string.format('%.0f', '8')"), "8");
    EXPECT_EQ(answer("string.format('%.0f %s', 8, 'x')"), "8 x");
    EXPECT_EQ(answer("tonumber('1700000000000001') - 1700000000000000"), "1");
    EXPECT_EQ(answer("tonumber('007')"), "7");
    EXPECT_EQ(answer("tonumber(' 7 ')"), "7");
    EXPECT_EQ(answer("tonumber('-7')"), "-7");
    EXPECT_EQ(answer("tonumber('0x10')"), "16");
    EXPECT_EQ(answer("tonumber('1e3')"), "1000");
    EXPECT_EQ(answer("tonumber('10', 2)"), "2");
    EXPECT_EQ(answer("tonumber('18446744073709551616') == 2^64"), "true");
    EXPECT_EQ(answer("tonumber('9007199254740993') == 2^53"), "true");
    EXPECT_EQ(answer("tonumber('')"), "nil");
    EXPECT_EQ(answer("tonumber('x')"), "nil");
    EXPECT_EQ(answer("tonumber(nil)"), "nil");
}

TEST(lua_memory, a_block_keeps_what_is_in_it_through_all_sizes) {
    lua_memory memory;
    std::string expected;
    char* block = nullptr;
    const auto resize = [&](std::size_t to) {
        auto* moved = lua_memory::reallocate(&memory, block, expected.size(), to);
        block = static_cast<char*>(moved);
    };
    for (const std::size_t size : {1U, 16U, 17U, 400U, 512U, 513U, 100'000U, 600U, 512U, 40U, 3U}) {
        resize(size);
        const auto kept = std::min(size, expected.size());
        ASSERT_EQ(std::string_view(block, kept), std::string_view(expected).substr(0, kept))
            << size;
        expected.assign(size, static_cast<char>('a' + size % 26));
        std::memcpy(block, expected.data(), size);
    }
    resize(0);
    EXPECT_EQ(block, nullptr);
}

TEST(lua_memory, blocks_do_not_overlap_and_are_used_again) {
    lua_memory memory;
    std::array<void*, 5000> blocks{};  // more than one slab holds
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        blocks[i] = lua_memory::reallocate(&memory, nullptr, 0, 40);
        std::memset(blocks[i], static_cast<int>(i % 251), 40);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const std::string filled(40, static_cast<char>(i % 251));
        ASSERT_EQ(std::memcmp(blocks[i], filled.data(), 40), 0) << i;
    }
    lua_memory::reallocate(&memory, blocks[7], 40, 0);
    EXPECT_EQ(lua_memory::reallocate(&memory, nullptr, 0, 33), blocks[7]);
}

}  // namespace
}  // namespace holdfast::sim
