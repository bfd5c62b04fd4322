// Lists. None is empty: with its last item the key is gone.

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/server/keyspace.hpp"
#include "sim/server/keyspace_errors.hpp"
#include "sim/server/words.hpp"

namespace holdfast::sim {

value keyspace::lpush(arguments command, wall_time now) {
    return add(command, now, list_end::head);
}

value keyspace::rpush(arguments command, wall_time now) {
    return add(command, now, list_end::tail);
}

value keyspace::add(arguments command, wall_time now, list_end where) {
    auto* found = live(command[1], now);
    if (found && !found->is_list()) return wrong_type();
    remember(command[1]);
    if (!found) found = &entries_.emplace_back(entry{.key = std::string(command[1]), .text = {}});
    auto& items = found->items;
    for (const auto item : command.subspan(2)) {
        items.emplace(where == list_end::head ? items.begin() : items.end(), item);
    }
    if (listener_) listener_->on_change(command[1]);
    return value::integer(static_cast<std::int64_t>(items.size()));
}

value keyspace::lpop(arguments command, wall_time now) {
    auto* found = live(command[1], now);
    if (!found) return {};
    if (!found->is_list()) return wrong_type();
    auto first = value::bulk(found->items.front());
    replace_items(*found, {found->items.begin() + 1, found->items.end()});
    return first;
}

// So many from the head, or, where negative, from the tail; 0: all.
value keyspace::lrem(arguments command, wall_time now) {
    const auto count = whole_number(command[2]);
    if (!count) return not_a_number();
    auto* found = live(command[1], now);
    if (!found) return value::integer(0);
    if (!found->is_list()) return wrong_type();
    constexpr auto limits = std::numeric_limits<std::int64_t>{};
    const bool all = *count == 0 || *count == limits.min();
    const auto most = all ? limits.max() : std::abs(*count);
    std::int64_t removed = 0;
    const auto goes = [&](const std::string& item) {
        if (item != command[3] || removed == most) return false;
        ++removed;
        return true;
    };
    auto left = found->items;
    if (*count < 0) std::ranges::reverse(left);
    std::erase_if(left, goes);
    if (*count < 0) std::ranges::reverse(left);
    if (removed != 0) replace_items(*found, std::move(left));
    return value::integer(removed);
}

value keyspace::llen(arguments command, wall_time now) {
    const auto* found = read(command[1], now);
    if (found && !found->is_list()) return wrong_type();
    return value::integer(found ? static_cast<std::int64_t>(found->items.size()) : 0);
}

value keyspace::lpos(arguments command, wall_time now) {
    const auto* found = read(command[1], now);
    if (command.size() > 3) return syntax_error();
    if (!found) return {};
    if (!found->is_list()) return wrong_type();
    const auto place = std::ranges::find(found->items, command[2]);
    return place == found->items.end() ? value{} : value::integer(place - found->items.begin());
}

// Counted from the end where negative; beyond either end there is nothing.
value keyspace::lrange(arguments command, wall_time now) {
    const auto* found = read(command[1], now);
    const auto first = whole_number(command[2]);
    const auto last = whole_number(command[3]);
    if (!first || !last) return not_a_number();
    if (!found) return value::array({});
    if (!found->is_list()) return wrong_type();
    const auto size = static_cast<std::int64_t>(found->items.size());
    const auto counted = [&](std::int64_t n) { return n < 0 ? size + n : n; };
    const auto end = std::min(counted(*last), size - 1);
    std::vector<value> all;
    for (auto i = std::max<std::int64_t>(counted(*first), 0); i <= end; ++i) {
        all.push_back(value::bulk(found->items[static_cast<std::size_t>(i)]));
    }
    return value::array(std::move(all));
}

void keyspace::replace_items(entry& list, std::vector<std::string> by) {
    const std::string key = list.key;
    if (by.empty()) return erase(key);
    remember(key);
    list.items = std::move(by);
    if (listener_) listener_->on_change(key);
}

}  // namespace holdfast::sim
