#include "sim/server/tracking.hpp"

#include <algorithm>

namespace holdfast::sim {

void tracking_table::remember(std::string_view key, connection who) {
    const auto same = [&](const entry& e) { return e.key == key; };
    auto found = std::ranges::find_if(all_, same);
    if (found == all_.end()) found = all_.insert(found, {std::string(key), {}});
    if (std::ranges::find(found->by, who) == found->by.end()) found->by.push_back(who);
}

void tracking_table::forget(connection who) {
    for (auto& e : all_) std::erase(e.by, who);
    std::erase_if(all_, [](const entry& e) { return e.by.empty(); });
}

}  // namespace holdfast::sim
