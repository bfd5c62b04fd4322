#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "core/node_set.hpp"
#include "core/time.hpp"
#include "core/tuning.hpp"

namespace holdfast::core {

/// The releases that a node has not confirmed. One that was sent but not answered stays owed: the
/// connection may break before it arrives, and then it is sent again after the reconnect, while
/// what it would delete can still be there.
///
///   owe        when a release is due, sent or not, and when the node answered with an error
///   settled    the node answered it: what it would delete is not there any more
///   due        after a reconnect, or a pause: what to send now; what has outlived itself is
///   dropped
///
/// Beyond `most_per_node` the one is dropped whose key is gone soonest by itself: who has left a
/// line is owed longest, because its entry does not go away while others wait.
///
/// `Release` names one: whatever the driver needs to send it again, comparable.
template <typename Release>
class owed_releases {
  public:
    static constexpr auto most_per_node = tuning::owed::most_per_node;

    /// `until`: when the key is gone without our help. `name`: what tells it from others, for ==.
    template <typename Name>
    void owe(node_index node, Release what, const Name& name, time_point until) {
        auto& debts = debts_[node];
        debts.push_back({std::move(what), until});  // throws before anything has changed
        const auto newest = std::prev(debts.end());
        const auto known =
            std::find_if(debts.begin(), newest, [&](const debt& d) { return d.what == name; });
        if (known != newest) {
            debts.erase(known);
        } else if (debts.size() > most_per_node) {
            debts.erase(std::ranges::min_element(debts, {}, &debt::until));
        }
    }
    void owe(node_index node, Release what, time_point until) {
        const auto name = what;
        owe(node, std::move(what), name, until);
    }

    template <typename Name>
    void settled(node_index node, const Name& name) {
        const auto found = debts_.find(node);
        if (found == debts_.end()) return;
        std::erase_if(found->second, [&](const debt& d) { return d.what == name; });
        if (found->second.empty()) debts_.erase(found);
    }

    /// Calls `visit(release)` for each that is still worth sending, oldest first.
    template <typename Visitor>
    void due(node_index node, time_point now, Visitor&& visit) {
        const auto found = debts_.find(node);
        if (found == debts_.end()) return;
        auto& debts = found->second;
        std::erase_if(debts, [&](const debt& d) { return d.until <= now; });
        for (const auto& d : debts) visit(d.what);
    }

    /// Nothing is owed to any node.
    [[nodiscard]] bool empty() const {
        return std::all_of(debts_.begin(), debts_.end(),
                           [](const auto& each) { return each.second.empty(); });
    }
    [[nodiscard]] std::size_t size(node_index node) const {
        const auto found = debts_.find(node);
        return found == debts_.end() ? 0 : found->second.size();
    }
    /// Those to whom something is owed.
    [[nodiscard]] std::vector<node_index> owing() const {
        std::vector<node_index> all;
        for (const auto& [node, debts] : debts_) {
            if (!debts.empty()) all.push_back(node);
        }
        return all;
    }

  private:
    struct debt {
        Release what;
        time_point until;
    };

    // Where a connection breaks all that it carried are owed anew, the oldest first: each is found
    // at the front then, and taken out without moving the others.
    std::map<node_index, std::list<debt>> debts_;
};

}  // namespace holdfast::core
