// Those who want several keys at once, and those who want one, at one server, in random schedules:
// nobody has a key together with another, tokens grow, and nobody waits for ever. The scripts are
// those that ship; how a caller uses them (it looks once a second, and when it is called) is what
// src/core/contend.hpp says of one voter.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "scripts/embedded.hpp"
#include "sim/random.hpp"
#include "sim/server/keyspace.hpp"
#include "sim/server/lua_runner.hpp"

namespace holdfast::sim {
namespace {

using words = std::vector<std::string_view>;
using names = std::vector<std::string>;
using milliseconds = std::int64_t;

constexpr milliseconds whole_ttl = 60'000;

/// A rule broken on purpose, in the text of a script.
struct wrong {
    std::string name{};
    const scripts::script* in = nullptr;
    struct change {
        std::string rule{}, instead{};
    };
    std::vector<change> changes{};
};

// The names of tests are made of it: its bytes, which have addresses, differ from build to build.
void PrintTo(const wrong& broken, std::ostream* to) { *to << broken.name; }

/// The scripts at work on the keys of one server.
class server final : public command_executor {
  public:
    explicit server(wrong broken) : broken_(std::move(broken)) {}

    value run(const scripts::script& which, const names& keys, const names& arguments,
              milliseconds now) {
        const auto found = compiled_.find(&which);
        const auto script =
            found != compiled_.end()
                ? found->second
                : compiled_.emplace(&which, lua_.compile(text_of(which))).first->second;
        auto answer = lua_.run(script, words(keys.begin(), keys.end()),
                               words(arguments.begin(), arguments.end()), *this, at(now));
        if (answer.is(value::kind::error)) throw std::logic_error(answer.text);
        return answer;
    }

    [[nodiscard]] std::size_t left(milliseconds now) {
        data_.expire(at(now));
        return static_cast<std::size_t>(
            std::count_if(data_.entries().begin(), data_.entries().end(),
                          [](const auto& each) { return !each.key.starts_with("fence"); }));
    }

    /// Whether anything at the server still names the owner.
    [[nodiscard]] bool names(const std::string& owner, milliseconds now) {
        data_.expire(at(now));
        return std::any_of(data_.entries().begin(), data_.entries().end(), [&](const auto& each) {
            return each.text == owner ||
                   std::any_of(each.items.begin(), each.items.end(),
                               [&](const auto& entry) { return entry.ends_with(" " + owner); });
        });
    }

    std::vector<bool> hears;          // the channel of each caller
    std::vector<std::size_t> called;  // since they were last looked at

  private:
    static wall_time at(milliseconds now) { return wall_time(1'000'000'000 + now * 1000); }

    std::string text_of(const scripts::script& which) const {
        std::string text(which.text);
        if (broken_.in != &which) return text;
        for (const auto& [rule, instead] : broken_.changes) {
            const auto place = text.find(rule);
            if (place == text.npos) throw std::logic_error("no such rule: " + rule);
            text.replace(place, rule.size(), instead);
        }
        return text;
    }

    value execute(arguments command, wall_time now) override {
        if (command.front() != "PUBLISH") return data_.execute(command, now);
        const auto whom = std::stoul(std::string(command[1].substr(1)));
        if (hears[whom]) called.push_back(whom);
        return value::integer(hears[whom] ? 1 : 0);
    }

    wrong broken_;
    lua_runner lua_;
    keyspace data_;
    std::map<const scripts::script*, lua_runner::script_handle> compiled_;
};

/// One process with one thread, which wants one set of keys after the other.
class caller {
  public:
    enum class state : std::uint8_t { idle, waits, holds, frozen, dead };

    caller(server& at, std::size_t number) : server_(at), number_(number) {}

    void want(names keys, milliseconds now) {
        keys_ = std::move(keys);
        owner_ = (keys_.size() > 1 ? "hm1:" : "hf1:") + std::to_string(number_) + "-" +
                 std::to_string(++owners_);
        since_ = now;
        known_ = false;
        is = state::waits;
        look(now);
    }

    /// Whether it has got them.
    bool look(milliseconds now) {
        const auto answer =
            keys_.size() > 1
                ? server_.run(scripts::several::queue_acquire, with({"queue:", "fence:"}),
                              {owner_, std::to_string(whole_ttl), entry(), known_ ? "1" : "0",
                               "3600000", "0"},
                              now)
                : server_.run(scripts::exclusive::queue_acquire, with({"queue:", "fence:"}),
                              known_ ? names{owner_, std::to_string(whole_ttl), "3600000", "1", "0",
                                             entry(), "1"}
                                     : names{owner_, std::to_string(whole_ttl), "3600000", "1", "0",
                                             entry()},
                              now);
        if (answer.items[0].number == 1) {
            is = state::holds;
            token = answer.items[1].number;
            return true;
        }
        known_ = true;
        const auto place = answer.items[3].number;
        looks_at = now + 900 + std::max<std::int64_t>(place, 1);
        return false;
    }

    /// Lets go, or leaves the lines. Whether nothing is left of it.
    bool leave(milliseconds now) {
        const bool held = is == state::holds;
        if (keys_.size() > 1) {
            server_.run(scripts::several::release, with({"queue:"}), {owner_, held ? "" : entry()},
                        now);
        } else {
            server_.run(scripts::exclusive::queue_release, with({"queue:"}),
                        held ? names{owner_} : names{owner_, entry()}, now);
        }
        is = state::idle;
        return !server_.names(owner_, now);
    }

    [[nodiscard]] const names& keys() const { return keys_; }
    [[nodiscard]] milliseconds waited(milliseconds now) const { return now - since_; }
    /// It was not there: what it waited before does not count.
    void wakes(milliseconds now) {
        is = state::waits;
        since_ = now;
        looks_at = now;
    }

    state is = state::idle;
    milliseconds looks_at = 0;
    milliseconds until = 0;  // it holds, or stands still
    std::int64_t token = 0;

  private:
    [[nodiscard]] std::string entry() const { return "c" + std::to_string(number_) + " 0 "; }
    [[nodiscard]] names with(const names& beside) const {
        names all = keys_;
        for (const auto& what : beside) {
            for (const auto& key : keys_) all.push_back(what + key);
        }
        return all;
    }

    server& server_;
    std::size_t number_;
    names keys_;
    std::string owner_;
    std::size_t owners_ = 0;
    bool known_ = false;
    milliseconds since_ = 0;
};

/// What went wrong in one schedule; empty: nothing.
class schedule {
  public:
    schedule(std::uint64_t seed, wrong broken) : chance_(seed), server_(std::move(broken)) {
        for (std::size_t n = 0; n < callers; ++n) all_.emplace_back(server_, n);
        server_.hears.assign(callers, true);
    }

    std::string run() {
        for (; now_ < 60'000 && said_.empty(); now_ += chance_.between(1, 40)) step(true);
        for (; now_ < 180'000 && said_.empty() && !quiet(); now_ += chance_.between(1, 40))
            step(false);
        if (said_.empty() && !quiet()) said_ = "somebody waits for ever";
        if (said_.empty() && server_.left(now_ + 11'000) != 0) said_ = "something is left";
        return said_;
    }

    std::size_t served = 0;

  private:
    static constexpr std::size_t callers = 6;
    /// With six callers that hold for 200 ms at most, and faults that cost 2 s for each key.
    static constexpr milliseconds longest_wait = 40'000;

    [[nodiscard]] bool quiet() const {
        return std::all_of(all_.begin(), all_.end(), [](const caller& each) {
            return each.is == caller::state::idle || each.is == caller::state::dead;
        });
    }

    void step(bool busy) {
        for (std::size_t n = 0; n < all_.size() && said_.empty(); ++n) move(all_[n], n, busy);
        const auto called = std::exchange(server_.called, {});
        for (const auto whom : called) {
            auto& each = all_[whom];
            if (each.is == caller::state::waits && said_.empty()) look(each);
        }
    }

    void move(caller& each, std::size_t number, bool busy) {
        using state = caller::state;
        if (each.is == state::idle && busy && chance_.per_mille(300)) {
            each.want(some_keys(), now_);
            if (each.is == state::holds) note(each);
        } else if (each.is == state::waits) {
            if (each.waited(now_) > longest_wait) said_ = "somebody waits too long";
            if (busy && chance_.per_mille(5)) return stand_still(each);
            if (busy && chance_.per_mille(2)) return die(each, number);
            if (busy && chance_.per_mille(2)) return leave(each);
            if (now_ >= each.looks_at) look(each);
        } else if (each.is == state::holds && now_ >= each.until) {
            leave(each);
        } else if (each.is == state::frozen && now_ >= each.until) {
            each.wakes(now_);
        } else if (each.is == state::dead && busy && chance_.per_mille(20)) {
            server_.hears[number] = true;  // another takes its place
            each.is = state::idle;
        }
    }

    void stand_still(caller& each) {
        each.is = caller::state::frozen;
        each.until = now_ + chance_.between(500, 6000);
    }
    void die(caller& each, std::size_t number) {
        each.is = caller::state::dead;
        server_.hears[number] = false;
    }

    void look(caller& each) {
        if (each.look(now_)) note(each);
    }
    void leave(caller& each) {
        if (!each.leave(now_)) said_ = "something is left of who has left";
    }

    void note(caller& holder) {
        ++served;
        holder.until = now_ + chance_.between(1, 200);
        for (const auto& other : all_) {
            if (&other == &holder || other.is != caller::state::holds) continue;
            for (const auto& key : holder.keys()) {
                if (std::count(other.keys().begin(), other.keys().end(), key) > 0) {
                    said_ = "two have one key";
                }
            }
        }
        for (const auto& key : holder.keys()) {
            if (holder.token <= last_[key]) said_ = "a token does not grow";
            last_[key] = holder.token;
        }
    }

    names some_keys() {
        names all{"a", "b", "c", "d"};
        for (std::size_t n = all.size(); n > 1; --n) std::swap(all[n - 1], all[chance_.below(n)]);
        all.resize(1 + chance_.below(3));
        return all;
    }

    random chance_;
    server server_;
    std::vector<caller> all_;
    std::map<std::string, std::int64_t> last_;
    milliseconds now_ = 0;
    std::string said_;
};

TEST(several_schedules, keep_every_promise) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        schedule one(seed, wrong{});
        ASSERT_EQ(one.run(), "") << "seed " << seed;
        ASSERT_GT(one.served, 20U) << "seed " << seed;
    }
}

class several_schedules_broken : public testing::TestWithParam<wrong> {};

TEST_P(several_schedules_broken, are_found_out) {
    std::string found;
    for (std::uint64_t seed = 0; seed < 60 && found.empty(); ++seed) {
        found = schedule(seed, GetParam()).run();
    }
    EXPECT_NE(found, "");
}

INSTANTIATE_TEST_SUITE_P(
    several, several_schedules_broken,
    testing::Values(
        // Who has lost a place enters that line alone anew: two arrivals.
        wrong{"enters_one_line_anew",
              &scripts::several::queue_acquire,
              {{"if known and not kept then leave() end", ""},
               {"local place = is_other(n) and redis.pcall('RPUSH', KEYS[count + n], entry) or 1",
                "local place = is_other(n) and not redis.call('LPOS', KEYS[count + n], entry) and "
                "redis.pcall('RPUSH', KEYS[count + n], entry) or 1"}}},
        // Who cannot have all takes what is free for good.
        wrong{"keeps_what_is_free_for_good",
              &scripts::several::queue_acquire,
              {{"'PX', 2000 + place", "'PX', ARGV[2]"}}},
        // What others have of the rest does not matter.
        wrong{"looks_at_the_first_key_alone",
              &scripts::several::queue_acquire,
              {{"if holders[n] and holders[n] ~= owner and not other",
                "if n == 1 and holders[n] and holders[n] ~= owner and not other"}}},
        // The token is above one counter, and not above all.
        wrong{"token_above_one_counter",
              &scripts::several::queue_acquire,
              {{"token = math.max(token, found[n] + 1)", "token = found[n] + 1"}}},
        // Who gives up forgets the lines that it stands in.
        wrong{"leaves_no_line",
              &scripts::several::release,
              {{"redis.pcall('LREM', KEYS[count + n], -1, start .. owner)", "nil"}}},
        // A release frees the first key alone.
        wrong{"releases_the_first_key_alone",
              &scripts::several::release,
              {{"for n = 1, count do", "for n = 1, 1 do"}}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace holdfast::sim
