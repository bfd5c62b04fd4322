// The commands that no script of an acquire, a renewal or a release needs.

#include <algorithm>

#include "sim/server/keyspace.hpp"
#include "sim/server/keyspace_errors.hpp"
#include "sim/server/words.hpp"

namespace holdfast::sim {
namespace {

const std::string* field_of(const keyspace::entry& e, std::string_view name) {
    const auto found = std::ranges::find(e.fields, name, [](const auto& f) { return f.first; });
    return found == e.fields.end() ? nullptr : &found->second;
}

}  // namespace

value keyspace::strlen(arguments command, wall_time now) {
    const auto* found = read(command[1], now);
    if (found && !found->is_string()) return wrong_type();
    return value::integer(found ? static_cast<std::int64_t>(found->text.size()) : 0);
}

// Counted from the end where negative, as Redis does it; beyond either end there is nothing.
value keyspace::getrange(arguments command, wall_time now) {
    const auto first = whole_number(command[2]);
    const auto last = whole_number(command[3]);
    if (!first || !last) return not_a_number();
    const auto* found = read(command[1], now);
    if (found && !found->is_string()) return wrong_type();
    if (!found || (*first < 0 && *last < 0 && *first > *last)) return value::bulk({});
    const auto size = static_cast<std::int64_t>(found->text.size());
    const auto counted = [&](std::int64_t n) {
        return std::max<std::int64_t>(n < 0 ? size + n : n, 0);
    };
    const auto begin = counted(*first);
    const auto end = std::min(counted(*last), size - 1);
    if (begin > end) return value::bulk({});
    return value::bulk(
        std::string_view(found->text)
            .substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin + 1)));
}

value keyspace::type(arguments command, wall_time now) {
    const auto* found = read(command[1], now);
    if (!found) return value::status("none");
    return value::status(found->is_hash()         ? "hash"
                         : found->is_list()       ? "list"
                         : found->is_sorted_set() ? "zset"
                                                  : "string");
}

value keyspace::hset(arguments command, wall_time now) {
    if (command.size() % 2 != 0) {
        return value::error("ERR wrong number of arguments for 'hset' command");
    }
    const auto* found = live(command[1], now);
    if (found && !found->is_hash()) return wrong_type();
    auto changed = found ? *found : entry{.key = std::string(command[1]), .text = {}};
    std::int64_t added = 0;
    for (std::size_t i = 2; i < command.size(); i += 2) {
        const auto same = [&](const auto& f) { return f.first == command[i]; };
        auto place = std::ranges::find_if(changed.fields, same);
        if (place == changed.fields.end()) {
            place = changed.fields.emplace(place, command[i], std::string());
            ++added;
        }
        place->second = command[i + 1];
    }
    remember(command[1]);
    std::erase_if(entries_, [&](const entry& e) { return e.key == command[1]; });
    entries_.push_back(std::move(changed));
    if (listener_) listener_->on_change(command[1]);
    return value::integer(added);
}

value keyspace::hsetnx(arguments command, wall_time now) {
    const auto* found = live(command[1], now);
    if (found && !found->is_hash()) return wrong_type();
    if (found && field_of(*found, command[2])) return value::integer(0);
    return hset(command, now);
}

value keyspace::hmget(arguments command, wall_time now) {
    const auto* found = read(command[1], now);
    if (found && !found->is_hash()) return wrong_type();
    std::vector<value> all;
    for (const auto name : command.subspan(2)) {
        const auto* text = found ? field_of(*found, name) : nullptr;
        all.push_back(text ? value::bulk(*text) : value{});
    }
    return value::array(std::move(all));
}

value keyspace::hlen(arguments command, wall_time now) {
    const auto* found = read(command[1], now);
    if (found && !found->is_hash()) return wrong_type();
    return value::integer(found ? static_cast<std::int64_t>(found->fields.size()) : 0);
}

value keyspace::hkeys(arguments command, wall_time now) {
    const auto* found = read(command[1], now);
    if (found && !found->is_hash()) return wrong_type();
    std::vector<value> all;
    if (found) {
        for (const auto& field : found->fields) all.push_back(value::bulk(field.first));
    }
    return value::array(std::move(all));
}

value keyspace::time(arguments, wall_time now) {
    std::vector<value> parts(2);
    parts[0] = {.what = value::kind::bulk, .text = std::to_string(now.count() / 1000000)};
    parts[1] = {.what = value::kind::bulk, .text = std::to_string(now.count() % 1000000)};
    return value::array(std::move(parts));
}

value keyspace::flush(arguments command, wall_time) {
    const auto how = command.size() > 1 ? letters(command[1]) : letters("SYNC");
    if (command.size() > 2 || (how != letters("SYNC") && how != letters("ASYNC"))) {
        return syntax_error();
    }
    empty();
    return value::status("OK");
}

void keyspace::empty() {
    for (const auto& e : entries_) remember(e.key);
    entries_.clear();
    if (listener_) listener_->on_flush();
}

void keyspace::assign(std::string_view key, const std::optional<entry>& after) {
    remember(key);
    std::erase_if(entries_, [&](const entry& e) { return e.key == key; });
    if (after) entries_.push_back(*after);
    if (listener_) listener_->on_change(key);
}

void keyspace::replace_all(std::vector<entry> by) {
    entries_ = std::move(by);
    history_.clear();
}

}  // namespace holdfast::sim
