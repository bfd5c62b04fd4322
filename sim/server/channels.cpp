#include "sim/server/channels.hpp"

#include <algorithm>

namespace holdfast::sim {
namespace {

bool holds(std::span<const channel_table::connection> all, channel_table::connection one) {
    return std::ranges::find(all, one) != all.end();
}

}  // namespace

bool channel_table::add(std::string_view channel, connection who) {
    auto found = std::ranges::find(all_, channel, &entry::channel);
    if (found == all_.end()) found = all_.insert(found, {std::string(channel), {}});
    if (holds(found->receivers, who)) return false;
    found->receivers.push_back(who);
    return true;
}

bool channel_table::remove(std::string_view channel, connection who) {
    const auto found = std::ranges::find(all_, channel, &entry::channel);
    if (found == all_.end() || std::erase(found->receivers, who) == 0) return false;
    drop_empty();
    return true;
}

std::span<const channel_table::connection> channel_table::receivers_of(
    std::string_view channel) const {
    const auto found = std::ranges::find(all_, channel, &entry::channel);
    if (found == all_.end()) return {};
    return found->receivers;
}

const std::string* channel_table::any_of(connection who) const {
    const auto has = [&](const entry& e) { return holds(e.receivers, who); };
    const auto found = std::ranges::find_if(all_, has);
    return found == all_.end() ? nullptr : &found->channel;
}

void channel_table::forget(connection who) {
    for (auto& e : all_) std::erase(e.receivers, who);
    drop_empty();
}

void channel_table::drop_empty() {
    std::erase_if(all_, [](const entry& e) { return e.receivers.empty(); });
}

}  // namespace holdfast::sim
