// Sorted sets. None is empty: with its last member the key is gone.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "sim/server/keyspace.hpp"
#include "sim/server/keyspace_errors.hpp"
#include "sim/server/words.hpp"

namespace holdfast::sim {
namespace {

using members = std::vector<std::pair<std::string, double>>;

std::optional<double> score_of(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    double score = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), score);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && !std::isnan(score) ? std::optional{score} : std::nullopt;
}

std::string text_of(double score) {
    constexpr double exact = 9007199254740992;
    if (std::abs(score) < exact && score == std::floor(score)) {
        return std::to_string(static_cast<std::int64_t>(score));
    }
    char digits[64];
    const int length = std::snprintf(digits, sizeof digits, "%.17g", score);
    return {digits, static_cast<std::size_t>(length)};
}

// The end of a range: by itself not part of it, behind a bracket.
struct bound {
    double at = 0;
    bool excluded = false;
};

std::optional<bound> bound_of(std::string_view text) {
    const bool excluded = text.starts_with('(');
    const auto score = score_of(excluded ? text.substr(1) : text);
    return score ? std::optional{bound{*score, excluded}} : std::nullopt;
}

struct span {
    bound low{};
    bound high{};

    [[nodiscard]] bool has(double score) const {
        const bool above = low.excluded ? score > low.at : score >= low.at;
        const bool below = high.excluded ? score < high.at : score <= high.at;
        return above && below;
    }
};

std::optional<span> span_of(std::string_view from, std::string_view to) {
    const auto low = bound_of(from);
    const auto high = bound_of(to);
    return low && high ? std::optional{span{*low, *high}} : std::nullopt;
}

value no_span() { return value::error("ERR min or max is not a float"); }

void append(std::vector<value>& all, const members::value_type& member, bool with_score) {
    all.push_back(value::bulk(member.first));
    if (with_score) all.push_back(value::bulk(text_of(member.second)));
}

// What may follow the ends of a range.
struct range_options {
    bool scores = false;
    std::int64_t skipped = 0;
    std::int64_t most = -1;  // negative: all
};

std::optional<value> parse(keyspace::arguments words, range_options& into) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto word = letters(words[i]);
        if (word == letters("WITHSCORES")) {
            into.scores = true;
        } else if (word == letters("LIMIT") && i + 2 < words.size()) {
            const auto skipped = whole_number(words[++i]);
            const auto most = whole_number(words[++i]);
            if (!skipped || !most) return not_a_number();
            into.skipped = *skipped;
            into.most = *most;
        } else {
            return syntax_error();
        }
    }
    return std::nullopt;
}

auto find_member(members& all, std::string_view name) {
    return std::ranges::find(all, name, &members::value_type::first);
}

// By score, and by name among equal ones.
void sort(members& all) {
    std::ranges::sort(all, [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second < b.second : a.first < b.first;
    });
}

}  // namespace

value keyspace::zadd(arguments command, wall_time now) {
    if (command.size() % 2 != 0) return syntax_error();
    for (std::size_t i = 2; i < command.size(); i += 2) {
        if (!score_of(command[i])) return value::error("ERR value is not a valid float");
    }
    auto* found = live(command[1], now);
    if (found && !found->is_sorted_set()) return wrong_type();
    auto all = found ? found->members : members{};
    std::int64_t added = 0;
    for (std::size_t i = 2; i < command.size(); i += 2) {
        const auto place = find_member(all, command[i + 1]);
        if (place == all.end()) {
            all.emplace_back(command[i + 1], *score_of(command[i]));
            ++added;
        } else {
            place->second = *score_of(command[i]);
        }
    }
    sort(all);
    replace_members(command[1], found, std::move(all));
    return value::integer(added);
}

value keyspace::zrem(arguments command, wall_time now) {
    auto* found = live(command[1], now);
    if (!found) return value::integer(0);
    if (!found->is_sorted_set()) return wrong_type();
    auto all = found->members;
    const auto removed = std::erase_if(all, [&](const auto& each) {
        return std::ranges::find(command.subspan(2), each.first) != command.end();
    });
    replace_members(command[1], found, std::move(all));
    return value::integer(static_cast<std::int64_t>(removed));
}

value keyspace::zremrangebyscore(arguments command, wall_time now) {
    const auto wanted = span_of(command[2], command[3]);
    if (!wanted) return no_span();
    auto* found = live(command[1], now);
    if (!found) return value::integer(0);
    if (!found->is_sorted_set()) return wrong_type();
    auto all = found->members;
    const auto removed =
        std::erase_if(all, [&](const auto& each) { return wanted->has(each.second); });
    replace_members(command[1], found, std::move(all));
    return value::integer(static_cast<std::int64_t>(removed));
}

value keyspace::zrangebyscore(arguments command, wall_time now) {
    range_options how;
    if (auto wrong = parse(command.subspan(4), how)) return *wrong;
    const auto wanted = span_of(command[2], command[3]);
    if (!wanted) return no_span();
    const auto* found = read(command[1], now);
    if (!found) return value::array({});
    if (!found->is_sorted_set()) return wrong_type();
    std::vector<value> all;
    std::int64_t seen = 0;
    for (const auto& each : found->members) {
        if (how.skipped < 0 || !wanted->has(each.second)) continue;
        const auto place = seen++ - how.skipped;
        if (place >= 0 && (how.most < 0 || place < how.most)) append(all, each, how.scores);
    }
    return value::array(std::move(all));
}

value keyspace::zcount(arguments command, wall_time now) {
    const auto wanted = span_of(command[2], command[3]);
    if (!wanted) return no_span();
    const auto* found = read(command[1], now);
    if (!found) return value::integer(0);
    if (!found->is_sorted_set()) return wrong_type();
    return value::integer(std::ranges::count_if(
        found->members, [&](const auto& each) { return wanted->has(each.second); }));
}

value keyspace::zscore(arguments command, wall_time now) {
    auto* found = read(command[1], now);
    if (!found) return {};
    if (!found->is_sorted_set()) return wrong_type();
    const auto place = find_member(found->members, command[2]);
    return place == found->members.end() ? value{} : value::bulk(text_of(place->second));
}

value keyspace::zrange(arguments command, wall_time now) { return by_place(command, now, false); }

value keyspace::zrevrange(arguments command, wall_time now) { return by_place(command, now, true); }

// `from_largest`: on, instead of from the smallest.
value keyspace::by_place(arguments command, wall_time now, bool from_largest) {
    const bool scores = command.size() == 5 && letters(command[4]) == letters("WITHSCORES");
    if (command.size() > 4 && !scores) return syntax_error();
    const auto first = whole_number(command[2]);
    const auto last = whole_number(command[3]);
    if (!first || !last) return not_a_number();
    const auto* found = read(command[1], now);
    if (!found) return value::array({});
    if (!found->is_sorted_set()) return wrong_type();
    const auto size = static_cast<std::int64_t>(found->members.size());
    const auto counted = [&](std::int64_t n) { return n < 0 ? size + n : n; };
    const auto end = std::min(counted(*last), size - 1);
    std::vector<value> all;
    for (auto i = std::max<std::int64_t>(counted(*first), 0); i <= end; ++i) {
        const auto place = static_cast<std::size_t>(from_largest ? size - 1 - i : i);
        append(all, found->members[place], scores);
    }
    return value::array(std::move(all));
}

// `set`: where it is; null: it is new. What stays the same is told to nobody.
void keyspace::replace_members(std::string_view name, entry* set, members by) {
    if (set != nullptr && set->members == by) return;
    const std::string key(name);
    if (by.empty()) return erase(key);
    remember(key);
    if (set == nullptr) set = &entries_.emplace_back(entry{.key = key, .text = {}});
    set->members = std::move(by);
    if (listener_) listener_->on_change(key);
}

}  // namespace holdfast::sim
