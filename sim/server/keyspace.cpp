#include "sim/server/keyspace.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "sim/server/keyspace_errors.hpp"
#include "sim/server/words.hpp"

namespace holdfast::sim {
namespace {

constexpr auto largest = std::numeric_limits<std::int64_t>::max();

std::int64_t milliseconds(keyspace::wall_time now) { return now.count() / 1000; }

bool expired(const keyspace::entry& e, keyspace::wall_time now) {
    return e.expires_at_ms != keyspace::no_expiry && milliseconds(now) > e.expires_at_ms;
}

value bad_expiry(std::string_view command) {
    return value::error("ERR invalid expire time in '" + std::string(command) + "' command");
}

value wrong_arity(std::string_view command) {
    std::string lower(command);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return value::error("ERR wrong number of arguments for '" + lower + "' command");
}

// A condition that may be given once.
bool give(bool& flag, bool excluded) {
    if (flag || excluded) return false;
    return flag = true;
}

struct set_options {
    bool nx = false;
    bool xx = false;
    bool get = false;
    bool keep_ttl = false;
    bool expires = false;
    bool in_seconds = false;
    std::string_view expiry{};
};

std::optional<set_options> parse_set(keyspace::arguments command) {
    set_options o;
    for (std::size_t i = 3; i < command.size(); ++i) {
        const auto word = letters(command[i]);
        if (word == letters("NX") && give(o.nx, o.xx)) continue;
        if (word == letters("XX") && give(o.xx, o.nx)) continue;
        if (word == letters("GET")) {
            o.get = true;
            continue;
        }
        if (word == letters("KEEPTTL") && give(o.keep_ttl, o.expires)) continue;
        const bool seconds = word == letters("EX");
        if ((seconds || word == letters("PX")) && i + 1 < command.size() &&
            give(o.expires, o.keep_ttl)) {
            o.in_seconds = seconds;
            o.expiry = command[++i];
            continue;
        }
        return std::nullopt;
    }
    return o;
}

struct expiry {
    std::int64_t at_ms = keyspace::no_expiry;
    std::optional<value> wrong{};
};

expiry expiry_of(const set_options& options, keyspace::wall_time now) {
    if (!options.expires) return {};
    const auto span = whole_number(options.expiry);
    if (!span) return {.wrong = not_a_number()};
    const std::int64_t unit = options.in_seconds ? 1000 : 1;
    const bool fits =
        *span > 0 && *span <= largest / unit && *span * unit <= largest - milliseconds(now);
    if (!fits) return {.wrong = bad_expiry("set")};
    return {.at_ms = milliseconds(now) + *span * unit};
}

}  // namespace

value keyspace::execute(arguments command, wall_time now) {
    struct known {
        std::uint64_t name;
        std::size_t least;
        std::size_t most;
        denial falls_under;
        value (keyspace::*run)(arguments, wall_time);
    };
    constexpr std::size_t any = static_cast<std::size_t>(-1);
    using enum denial;
    static constexpr std::array table{
        known{letters("GET"), 2, 2, none, &keyspace::get},
        known{letters("SET"), 3, any, growing, &keyspace::set},
        known{letters("PTTL"), 2, 2, none, &keyspace::pttl},
        known{letters("DEL"), 2, any, writing, &keyspace::del},
        known{letters("INCR"), 2, 2, growing, &keyspace::incr},
        known{letters("MGET"), 2, any, none, &keyspace::mget},
        known{letters("PEXPIRE"), 3, 3, writing, &keyspace::pexpire},
        known{letters("TIME"), 1, 1, none, &keyspace::time},
        known{letters("EXISTS"), 2, any, none, &keyspace::exists},
        known{letters("STRLEN"), 2, 2, none, &keyspace::strlen},
        known{letters("GETRANGE"), 4, 4, none, &keyspace::getrange},
        known{letters("TYPE"), 2, 2, none, &keyspace::type},
        known{letters("LLEN"), 2, 2, none, &keyspace::llen},
        known{letters("LPOS"), 3, any, none, &keyspace::lpos},
        known{letters("LPOP"), 2, 2, writing, &keyspace::lpop},
        known{letters("LREM"), 4, 4, writing, &keyspace::lrem},
        known{letters("RPUSH"), 3, any, growing, &keyspace::rpush},
        known{letters("LPUSH"), 3, any, growing, &keyspace::lpush},
        known{letters("LRANGE"), 4, 4, none, &keyspace::lrange},
        known{letters("ZSCORE"), 3, 3, none, &keyspace::zscore},
        known{letters("ZADD"), 4, any, growing, &keyspace::zadd},
        known{letters("ZREM"), 3, any, writing, &keyspace::zrem},
        known{letters("ZREVRANGE"), 4, any, none, &keyspace::zrevrange},
        known{letters("ZREMRANGEBYSCORE"), 4, 4, writing, &keyspace::zremrangebyscore},
        known{letters("ZRANGE"), 4, any, none, &keyspace::zrange},
        known{letters("ZRANGEBYSCORE"), 4, any, none, &keyspace::zrangebyscore},
        known{letters("ZCOUNT"), 4, 4, none, &keyspace::zcount},
        known{letters("HSET"), 4, any, growing, &keyspace::hset},
        known{letters("HSETNX"), 4, 4, growing, &keyspace::hsetnx},
        known{letters("HMGET"), 3, any, none, &keyspace::hmget},
        known{letters("HLEN"), 2, 2, none, &keyspace::hlen},
        known{letters("HKEYS"), 2, 2, none, &keyspace::hkeys},
        known{letters("FLUSHALL"), 1, any, writing, &keyspace::flush},
        known{letters("FLUSHDB"), 1, any, writing, &keyspace::flush},
    };
    const auto text = command.front();
    const auto name = letters(text);
    for (const auto& row : table) {
        if (name != row.name) continue;
        if (command.size() < row.least || command.size() > row.most) return wrong_arity(text);
        if (row.falls_under != none) {
            if (is_denied(row.falls_under)) return value::error(why_denied_);
            has_written_ = true;
        }
        return (this->*row.run)(command, now);
    }
    return value::error("ERR unknown command '" + std::string(text) + "'");
}

bool keyspace::is_denied(denial falls_under) const {
    if (denied_ == denial::none || (in_script_ && has_written_)) return false;
    return denied_ == denial::writing || falls_under == denial::growing;
}

value keyspace::get(arguments command, wall_time now) {
    const auto* found = read(command[1], now);
    if (found && !found->is_string()) return wrong_type();
    return found ? value::bulk(found->text) : value{};
}

value keyspace::set(arguments command, wall_time now) {
    const auto options = parse_set(command);
    if (!options) return syntax_error();
    const auto [expires_at, wrong] = expiry_of(*options, now);
    if (wrong) return *wrong;
    const auto* found = live(command[1], now);
    if (found && options->get && !found->is_string()) return wrong_type();
    auto old = found && options->get ? value::bulk(found->text) : value{};
    const bool refused = options->nx ? found != nullptr : options->xx && !found;
    if (refused) return old;
    const bool keeps = options->keep_ttl && found;
    put(command[1], command[2], keeps ? found->expires_at_ms : expires_at);
    return options->get ? old : value::status("OK");
}

value keyspace::del(arguments command, wall_time now) {
    std::int64_t gone = 0;
    for (const auto key : command.subspan(1)) {
        if (!live(key, now)) continue;
        erase(key);
        ++gone;
    }
    return value::integer(gone);
}

value keyspace::exists(arguments command, wall_time now) {
    std::int64_t there = 0;
    for (const auto key : command.subspan(1)) there += read(key, now) ? 1 : 0;
    return value::integer(there);
}

value keyspace::incr(arguments command, wall_time now) {
    const auto* found = live(command[1], now);
    if (found && !found->is_string()) return wrong_type();
    const auto old = found ? whole_number(found->text) : std::optional<std::int64_t>{0};
    if (!old) return not_a_number();
    if (*old == largest) return value::error("ERR increment or decrement would overflow");
    put(command[1], std::to_string(*old + 1), found ? found->expires_at_ms : no_expiry);
    return value::integer(*old + 1);
}

value keyspace::pexpire(arguments command, wall_time now) {
    const auto span = whole_number(command[2]);
    if (!span) return not_a_number();
    if (*span > 0 && *span > largest - milliseconds(now)) return bad_expiry("pexpire");
    auto* found = live(command[1], now);
    if (!found) return value::integer(0);
    if (*span <= 0) {
        erase(command[1]);
    } else {
        remember(command[1]);
        found->expires_at_ms = milliseconds(now) + *span;
        if (listener_) listener_->on_change(command[1]);
    }
    return value::integer(1);
}

value keyspace::pttl(arguments command, wall_time now) {
    const auto* found = read(command[1], now);
    if (!found) return value::integer(-2);
    if (found->expires_at_ms == no_expiry) return value::integer(-1);
    return value::integer(found->expires_at_ms - milliseconds(now));
}

value keyspace::mget(arguments command, wall_time now) {
    std::vector<value> all;
    all.reserve(command.size() - 1);
    for (const auto key : command.subspan(1)) {
        const auto* found = read(key, now);
        all.push_back(found && found->is_string() ? value::bulk(found->text) : value{});
    }
    return value::array(std::move(all));
}

void keyspace::expire(wall_time now) {
    for (std::size_t i = entries_.size(); i-- > 0;) {
        if (!expired(entries_[i], now)) continue;
        const std::string key = entries_[i].key;
        erase(key);
    }
}

const keyspace::entry* keyspace::peek(std::string_view key, wall_time now) const {
    for (const auto& e : entries_) {
        if (e.key == key) return expired(e, now) ? nullptr : &e;
    }
    return nullptr;
}

void keyspace::clear() {
    while (!entries_.empty()) {
        const std::string key = entries_.back().key;
        erase(key);
    }
}

keyspace::entry* keyspace::find(std::string_view key) {
    for (auto& e : entries_) {
        if (e.key == key) return &e;
    }
    return nullptr;
}

// A key that has expired is deleted by whoever looks at it.
keyspace::entry* keyspace::live(std::string_view key, wall_time now) {
    auto* found = find(key);
    if (!found || !expired(*found, now)) return found;
    erase(key);
    return nullptr;
}

keyspace::entry* keyspace::read(std::string_view key, wall_time now) {
    auto* found = live(key, now);
    if (listener_) listener_->on_read(key);
    return found;
}

void keyspace::put(std::string_view key, std::string_view text, std::int64_t expires_at_ms) {
    remember(key);
    auto* found = find(key);
    if (!found) found = &entries_.emplace_back(entry{.key = std::string(key), .text = {}});
    found->text = text;
    found->fields.clear();
    found->items.clear();
    found->members.clear();
    found->expires_at_ms = expires_at_ms;
    if (listener_) listener_->on_change(key);
}

void keyspace::erase(std::string_view key) {
    remember(key);
    std::erase_if(entries_, [&](const entry& e) { return e.key == key; });
    if (listener_) listener_->on_change(key);
}

void keyspace::remember(std::string_view key) {
    if (!keeps_history_) return;
    const auto* found = find(key);
    history_.push_back({stamp_, std::string(key), found ? std::optional{*found} : std::nullopt});
}

void keyspace::roll_back_to(std::int64_t moment) {
    for (; !history_.empty() && history_.back().moment > moment; history_.pop_back()) {
        auto& undone = history_.back();
        std::erase_if(entries_, [&](const entry& e) { return e.key == undone.key; });
        if (undone.before) entries_.push_back(std::move(*undone.before));
    }
}

void keyspace::forget_history_before(std::int64_t moment) {
    std::erase_if(history_, [&](const change& c) { return c.moment < moment; });
}

}  // namespace holdfast::sim
