// The simulator proves nothing if its servers behave unlike real ones. Random sequences of commands
// and scripts, with real time passing in between, must be answered alike by both.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <thread>

#include "scripts/embedded.hpp"
#include "sim/server/keyspace.hpp"
#include "sim/server/lua_runner.hpp"
#include "sim/test/real_server.hpp"

namespace holdfast::sim {
namespace {

using command = std::vector<std::string>;
using batch = std::vector<command>;  // what happens without a pause

// Short enough to wait for, long enough for a batch to fit in; the rest never expires in a test.
constexpr std::chrono::milliseconds short_expiry{60};
constexpr std::chrono::milliseconds longest_batch{30};
constexpr std::chrono::milliseconds between_batches{80};
constexpr std::int64_t tolerance_ms = 30;  // of PTTL, and of TIME

rc::Gen<std::string> any_key() { return rc::gen::element<std::string>("a", "b", "c", "{a}f"); }

rc::Gen<std::string> any_text() {
    return rc::gen::element<std::string>("", "x", "owner", "0", "7", "-3", "007", "+1", "1.5",
                                         "9007199254740993", "9223372036854775807",
                                         "1700000000000000");
}

rc::Gen<std::string> any_expiry() {
    return rc::gen::element<std::string>("60", "60", "60", "100000", "3600000", "0", "-5", "x",
                                         "01", "9223372036854775807");
}

rc::Gen<command> any_set() {
    const auto option = rc::gen::elementOf(batch{{},
                                                 {},
                                                 {"NX"},
                                                 {"nx"},
                                                 {"XX"},
                                                 {"KEEPTTL"},
                                                 {"GET"},
                                                 {"NX", "XX"},
                                                 {"EX"},
                                                 {"EX", "100"},
                                                 {"bogus"}});
    return rc::gen::mapcat(
        rc::gen::tuple(any_key(), any_text(), option, any_expiry(), rc::gen::arbitrary<bool>()),
        [](std::tuple<std::string, std::string, command, std::string, bool> drawn) {
            const auto& [key, text, options, expiry, expires] = drawn;
            command result{"SET", key, text};
            result.insert(result.end(), options.begin(), options.end());
            if (expires) result.insert(result.end(), {"PX", expiry});
            return rc::gen::just(result);
        });
}

rc::Gen<command> words(std::string name, rc::Gen<std::string> a) {
    return rc::gen::map(std::move(a), [name](std::string x) { return command{name, x}; });
}

rc::Gen<command> words(std::string name, rc::Gen<std::string> a, rc::Gen<std::string> b) {
    return rc::gen::map(rc::gen::pair(std::move(a), std::move(b)),
                        [name](std::pair<std::string, std::string> p) {
                            return command{name, p.first, p.second};
                        });
}

rc::Gen<command> words(std::string name, rc::Gen<std::string> a, rc::Gen<std::string> b,
                       rc::Gen<std::string> c) {
    return rc::gen::map(rc::gen::tuple(std::move(a), std::move(b), std::move(c)),
                        [name](std::tuple<std::string, std::string, std::string> t) {
                            const auto& [x, y, z] = t;
                            return command{name, x, y, z};
                        });
}

rc::Gen<std::string> any_item() { return rc::gen::element<std::string>("x", "y", "c 0 z", ""); }

rc::Gen<std::string> any_place() {
    return rc::gen::element<std::string>("0", "1", "2", "-1", "-2", "9", "-9", "x");
}

rc::Gen<command> any_of_lists() {
    return rc::gen::weightedOneOf<command>({
        {6, words("RPUSH", any_key(), any_item())},
        {3, words("LPUSH", any_key(), any_item(), any_item())},
        {3, words("LPOP", any_key())},
        {3, words("LREM", any_key(), any_place(), any_item())},
        {3, words("LLEN", any_key())},
        {3, words("LPOS", any_key(), any_item())},
        {3, words("LRANGE", any_key(), any_place(), any_place())},
        {1, words("TYPE", any_key())},
    });
}

rc::Gen<std::string> any_score() {
    return rc::gen::element<std::string>("0", "1", "2", "2", "-7", "1.5", "1700000000000", "+3",
                                         "x", "inf", "9007199254740993");
}

rc::Gen<command> any_of_sorted_sets() {
    const auto scores =
        rc::gen::map(words("ZREVRANGE", any_key(), any_place(), any_place()), [](command c) {
            c.push_back("WITHSCORES");
            return c;
        });
    const auto with_more = [](std::string name, rc::Gen<std::string> from,
                              rc::Gen<std::string> to) {
        const auto more = rc::gen::elementOf(batch{{"WITHSCORES"},
                                                   {"LIMIT", "0", "1"},
                                                   {"LIMIT", "1", "-1", "WITHSCORES"},
                                                   {"WITHSCORES", "LIMIT", "-1", "2"},
                                                   {"LIMIT", "x", "1"},
                                                   {"LIMIT", "1"},
                                                   {}});
        return rc::gen::map(rc::gen::pair(words(name, any_key(), from, to), more),
                            [](std::pair<command, command> both) {
                                auto& [all, behind] = both;
                                all.insert(all.end(), behind.begin(), behind.end());
                                return all;
                            });
    };
    const auto ascending =
        rc::gen::map(words("ZRANGE", any_key(), any_place(), any_place()), [](command c) {
            c.push_back("WITHSCORES");
            return c;
        });
    return rc::gen::weightedOneOf<command>({
        {2, words("ZRANGE", any_key(), any_place(), any_place())},
        {2, ascending},
        {3, with_more("ZRANGEBYSCORE", any_score(), any_score())},
        {2, with_more("ZRANGEBYSCORE", rc::gen::element<std::string>("(1", "-inf"),
                      rc::gen::element<std::string>("+inf", "(2"))},
        {2, words("ZCOUNT", any_key(), any_score(), any_score())},
        {1, words("ZCOUNT", any_key(), rc::gen::just<std::string>("(1"), any_score())},
        {8, words("ZADD", any_key(), any_score(), any_item())},
        {3, words("ZSCORE", any_key(), any_item())},
        {3, words("ZREM", any_key(), any_item(), any_item())},
        {2, words("ZREMRANGEBYSCORE", any_key(), any_score(), any_score())},
        {1, words("ZREMRANGEBYSCORE", any_key(), rc::gen::just<std::string>("(1"), any_score())},
        {2, words("ZREVRANGE", any_key(), any_place(), any_place())},
        {3, scores},
        {1, rc::gen::elementOf(batch{{"ZADD", "a", "1"},
                                     {"ZADD", "a", "1", "x", "2"},
                                     {"ZADD", "a", "1", "x", "2", "y"},
                                     {"ZREVRANGE", "a", "0", "1", "x"}})},
        {1, words("TYPE", any_key())},
    });
}

rc::Gen<command> any_script() {
    using list = std::vector<std::string>;
    const auto owner = rc::gen::element<std::string>("alice", "bob");
    const auto ttl = rc::gen::element<std::string>("60", "100000");
    return rc::gen::mapcat(
        rc::gen::tuple(rc::gen::inRange(0, 18), owner, ttl, any_text()),
        [](std::tuple<int, std::string, std::string, std::string> drawn) {
            const auto& [which, who, span, text] = drawn;
            const auto eval = [&](std::string_view script, list keys, list arguments) {
                command c{"EVAL", std::string(script), std::to_string(keys.size())};
                c.insert(c.end(), keys.begin(), keys.end());
                c.insert(c.end(), arguments.begin(), arguments.end());
                return rc::gen::just(c);
            };
            const std::string kept = "3600000";
            const list record{"record", "life", "marker", "quarantine"};  // nobody else's
            switch (which) {
                case 0: return eval(scripts::exclusive::acquire.text, {"a"}, {who, span});
                case 1:
                    return eval(scripts::exclusive::acquire.text, {"a", "{a}f"},
                                {who, span, kept, "3", "0"});
                case 2:
                    return eval(scripts::exclusive::acquire.text, {"a", "{a}f"},
                                {who, span, kept, "1", std::to_string(text.size() * 1000)});
                case 3:
                    return eval(scripts::exclusive::commit.text, {"a", "{a}f"}, {who, text, kept});
                case 4:
                    return eval(scripts::exclusive::extend.text, {"a", "{a}f"}, {who, span, kept});
                case 5: return eval(scripts::exclusive::release.text, {"a"}, {who});
                case 6: return eval(scripts::enlist.text, record, {who, text, "0", span, "9"});
                case 7: return eval(scripts::enlist.text, record, {who, text, "1", "0", "9"});
                case 8: return eval(scripts::enlist.text, record, {who, text, "1", "", "9"});
                case 9:
                    return eval(
                        "redis.call('SET', 'b', ARGV[1]) local gone = redis.pcall('LPOP', KEYS[1]) "
                        "if type(gone) == 'table' then return gone.err end "
                        "local place = redis.pcall('LPOS', KEYS[1], ARGV[1]) "
                        "return {gone, place, redis.call('RPUSH', KEYS[1], 'c 0 ' .. ARGV[1])}",
                        {"c"}, {who});
                case 10:
                    return eval(
                        "for _, entry in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do "
                        "local channel, owner = string.match(entry, '^(%S+) %S+ (.*)$') "
                        "if owner == ARGV[1] then "
                        "return {channel, redis.call('LREM', KEYS[1], 1, entry)} end end "
                        "return redis.pcall('LLEN', KEYS[1])",
                        {"c"}, {who});
                case 11:
                    return eval(scripts::shared::acquire.text, {"a", "r", "{a}f"},
                                {"hr1:" + who, span, kept, "1", "0"});
                case 12:
                    return eval(scripts::shared::queue_acquire.text, {"a", "c", "r", "{a}f"},
                                {"hr1:" + who, span, "- 0 ", "1", kept, "1", "0"});
                case 13:
                    return eval(scripts::shared::extend.text, {"a", "r", "c", "{a}f"},
                                {"hr1:" + who, span, kept, "1"});
                case 14:
                    return eval(scripts::shared::release.text, {"a", "r", "c"},
                                {"hr1:" + who, "- 0 "});
                case 15:
                    return eval(scripts::shared::commit.text, {"a", "r", "{a}f"},
                                {"hr1:" + who, text, kept});
                case 16:
                    return eval(scripts::exclusive::queue_release.text, {"a", "c"}, {who, "- 0 "});
                default:
                    return eval(
                        "return {1.9, -1.9, false, redis.call('SET', 'a', 12345678901234567), "
                        "redis.pcall('INCR', 'b'), {{'x', true}, nil, 'unseen'}, ARGV[1]}",
                        {}, {text});
            }
        });
}

rc::Gen<command> any_command() {
    return rc::gen::weightedOneOf<command>({
        {6, any_set()},
        {4, words("GET", any_key())},
        {3, words("PTTL", any_key())},
        {2, words("DEL", any_key(), any_key())},
        {2, words("EXISTS", any_key(), any_key())},
        {2, words("MGET", any_key(), any_key())},
        {3, words("INCR", any_key())},
        {3, words("PEXPIRE", any_key(), any_expiry())},
        {1, rc::gen::elementOf(batch{{"TIME"}, {"FLUSHALL"}, {"GET"}, {"SET", "a"}, {"get", "a"}})},
        {10, any_of_lists()},
        {10, any_of_sorted_sets()},
        {14, any_script()},
    });
}

rc::Gen<std::vector<batch>> any_batches() {
    const auto commands = rc::gen::resize(12, rc::gen::container<batch>(any_command()));
    return rc::gen::resize(3, rc::gen::container<std::vector<batch>>(commands));
}

/// The keyspace and the Lua runner, asked as a server is.
class simulated_server {
  public:
    value execute(const command& c, keyspace::wall_time now) {
        std::vector<std::string_view> words(c.begin(), c.end());
        if (c.front() != "EVAL") return data_.execute(words, now);
        const auto keys = static_cast<std::size_t>(std::stoi(c[2]));
        const std::span all(words);
        return lua_.run(lua_.compile(c[1]), all.subspan(3, keys), all.subspan(3 + keys), data_,
                        now);
    }

  private:
    keyspace data_;
    lua_runner lua_;
};

// A number that comes from a clock may differ by what passed between the two.
bool close_enough(std::int64_t a, std::int64_t b) {
    const auto unit = a > 1'000'000'000'000'000 ? 1000 : 1;  // tokens are in microseconds
    return a >= 0 && b >= 0 && std::abs(a - b) <= tolerance_ms * unit;
}

bool same_time(const value& a, const value& b) {
    const auto micros = [](const value& v) {
        return std::stoll(v.items[0].text) * 1'000'000 + std::stoll(v.items[1].text);
    };
    return a.items.size() == 2 && b.items.size() == 2 &&
           std::abs(micros(a) - micros(b)) <= tolerance_ms * 1000;
}

// Scripts name their errors differently (with the SHA-1 and the line); the code is compared.
std::string_view error_text(const value& v, bool from_script) {
    const std::string_view text = v.text;
    return from_script ? text.substr(0, text.find(' ')) : text;
}

bool alike(const value& real, const value& ours, bool from_script) {
    if (real.what != ours.what) return false;
    switch (real.what) {
        case value::kind::integer:
            return real.number == ours.number || close_enough(real.number, ours.number);
        case value::kind::error:
            return error_text(real, from_script) == error_text(ours, from_script);
        case value::kind::array:
            if (real.items.size() != ours.items.size()) return false;
            for (std::size_t i = 0; i < real.items.size(); ++i) {
                if (!alike(real.items[i], ours.items[i], from_script)) return false;
            }
            return true;
        case value::kind::bulk: {
            if (real.text == ours.text) return true;
            const bool numbers = real.text.size() == 16 && ours.text.size() == 16;
            return numbers && close_enough(std::stoll(real.text), std::stoll(ours.text));
        }
        default: return real == ours;
    }
}

keyspace::wall_time wall_time_of(const value& time) {
    return keyspace::wall_time{std::stoll(time.items[0].text) * 1'000'000 +
                               std::stoll(time.items[1].text)};
}

real_server& shared_server() {
    static real_server server;
    return server;
}

void show(std::ostream& out, const value& v) {
    out << static_cast<int>(v.what) << ':' << v.number << ':' << v.text << '[';
    for (const auto& item : v.items) show(out << ' ', item);
    out << ']';
}

void compare(const command& asked, const value& real, const value& ours) {
    const bool script = asked.front() == "EVAL";
    const bool fine = asked.front() == "TIME" ? same_time(real, ours) : alike(real, ours, script);
    std::ostringstream said;
    for (const auto& word : asked) said << word << ' ';
    show(said << "\n real: ", real);
    show(said << "\n ours: ", ours);
    if (!fine) RC_FAIL(said.str());
}

void answers_alike() {
    const auto batches = *any_batches();
    simulated_server ours;
    shared_server().execute(batch{{"FLUSHALL"}});
    for (const auto& commands : batches) {
        batch framed{{"TIME"}};
        framed.insert(framed.end(), commands.begin(), commands.end());
        framed.push_back({"TIME"});
        const auto real = shared_server().execute(framed);
        const auto begun = wall_time_of(real.front());
        // A machine that slept in the middle has let keys expire that were meant to live.
        RC_PRE(wall_time_of(real.back()) - begun < longest_batch);
        for (std::size_t i = 0; i < commands.size(); ++i) {
            compare(commands[i], real[i + 1], ours.execute(commands[i], begun));
        }
        std::this_thread::sleep_for(between_batches);
    }
}

TEST(keyspace, answers_as_a_real_server_does) {
    EXPECT_TRUE(rc::check("random commands and scripts are answered alike", answers_alike));
}

TEST(keyspace, lets_a_key_live_through_the_millisecond_of_its_expiry) {
    keyspace data;
    using namespace std::chrono_literals;
    const std::vector<std::string_view> set{"SET", "k", "v", "PX", "10"};
    const std::vector<std::string_view> pttl{"PTTL", "k"};
    data.execute(set, 1000500us);
    EXPECT_EQ(data.execute(pttl, 1010999us), value::integer(0));
    EXPECT_EQ(data.execute(pttl, 1011000us), value::integer(-2));
}

TEST(keyspace, rolls_back_what_was_written_after_a_moment) {
    using namespace std::chrono_literals;
    keyspace data;
    data.keep_history(true);
    const auto set = [&](std::string_view key, std::string_view text, std::int64_t moment) {
        data.stamp(moment);
        data.execute(std::vector<std::string_view>{"SET", key, text}, 1s);
    };
    set("old", "1", 1);
    set("old", "2", 5);
    set("new", "3", 6);
    data.roll_back_to(4);
    EXPECT_EQ(data.peek("old", 1s)->text, "1");
    EXPECT_EQ(data.peek("new", 1s), nullptr);
}

TEST(keyspace, rolls_back_sorted_sets_member_by_member) {
    using namespace std::chrono_literals;
    keyspace data;
    const auto run = [&](std::vector<std::string_view> words) { data.execute(words, 1s); };
    data.keep_history(true);
    data.stamp(1);
    run({"ZADD", "z", "2", "b", "1", "a"});
    data.stamp(5);
    run({"ZADD", "z", "3", "a"});
    run({"ZREM", "z", "b"});
    run({"ZREMRANGEBYSCORE", "z", "3", "3"});
    EXPECT_EQ(data.peek("z", 1s), nullptr) << "none is empty";
    data.roll_back_to(4);
    ASSERT_NE(data.peek("z", 1s), nullptr);
    EXPECT_EQ(data.peek("z", 1s)->members,
              (std::vector<std::pair<std::string, double>>{{"a", 1}, {"b", 2}}));
}

TEST(keyspace, rolls_back_lists_item_by_item) {
    using namespace std::chrono_literals;
    using list = std::vector<std::string>;
    const auto changed = [](const std::vector<std::vector<std::string_view>>& later) {
        keyspace data;
        data.keep_history(true);
        data.stamp(1);
        data.execute(std::vector<std::string_view>{"RPUSH", "l", "a", "b", "a"}, 1s);
        data.stamp(5);
        for (const auto& words : later) data.execute(words, 1s);
        data.roll_back_to(4);
        const auto* left = data.peek("l", 1s);
        return left ? left->items : list{};
    };
    const list before{"a", "b", "a"};
    EXPECT_EQ(changed({{"LPUSH", "l", "c"}}), before);
    EXPECT_EQ(changed({{"LPOP", "l"}, {"LPOP", "l"}, {"LPOP", "l"}}), before);
    EXPECT_EQ(changed({{"LREM", "l", "0", "b"}, {"LREM", "l", "0", "a"}}), before);
    EXPECT_EQ(changed({{"DEL", "l"}, {"SET", "l", "x"}}), before);
    EXPECT_EQ(changed({{"SET", "l", "x"}, {"DEL", "l"}, {"RPUSH", "l", "c"}}), before);
    EXPECT_EQ(changed({{"FLUSHALL"}, {"RPUSH", "l", "c"}}), before);
}

}  // namespace
}  // namespace holdfast::sim
