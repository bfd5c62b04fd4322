#include "operate/readers.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "kinds/owners.hpp"
#include "kinds/shared.hpp"
#include "operate/asking.hpp"
#include "operate/server_clock.hpp"
#include "resp/view.hpp"

namespace holdfast::detail {
namespace {

using std::chrono::milliseconds;

/// The questions about the readers of one lock, to one of the servers that have it.
class readers_at_one {
  public:
    using found = std::vector<lock_status::reader>;

    readers_at_one(runtime::engine& engine, core::node_index node, std::string readers)
        : at_(engine, node, std::move(readers), "no list of readers") {}

    /// nullopt: why_not() says why.
    std::optional<found> read(const lock_status::node_view& lock) {
        const auto several = at_.ask({"ZSCORE", at_.key(), kinds::phase_mark + lock.owner});
        if (!several) return std::nullopt;
        if (resp::view(*several).is_null()) {
            auto who = parse_owner(lock.owner);
            who.remaining = lock.remaining;
            return found{{std::move(who)}};
        }
        const auto time = at_.ask({"TIME"});
        if (!time) return std::nullopt;
        const auto now = micros_of(*time) / 1000;
        const auto after = "(" + std::to_string(now);
        const auto all = at_.ask({"ZREVRANGEBYSCORE", at_.key(), "+inf", after, "WITHSCORES",
                                  "LIMIT", "0", std::to_string(max_readers_told)});
        if (!all) return std::nullopt;
        count_ = at_.count({"ZCOUNT", at_.key(), after, "+inf"}).value_or(count_);
        return listed(resp::view(*all), now);
    }

    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] const std::string& why_not() const { return at_.why_not(); }

  private:
    static found listed(resp::view all, std::int64_t now) {
        found result;
        for_each_member(all, [&](std::string_view owner, double ends) {
            auto who = parse_owner(std::string(owner.substr(0, max_owner_bytes)));
            const auto left = static_cast<std::int64_t>(ends) - now;
            who.remaining = milliseconds(std::max(left, std::int64_t{0}));
            if (!who.foreign()) result.push_back({std::move(who)});
        });
        return result;
    }

    asking at_;
    std::size_t count_ = 1;
};

struct votes {
    lock_status::reader who;
    std::size_t count = 0;
};

}  // namespace

void read_readers(lock_status& status, runtime::engine& engine, const runtime::electorate& whom,
                  const std::string& name) {
    if (!status.held_by || !status.held_by->reads) return;
    std::map<std::string, votes> all;
    std::size_t asked = 0;
    for (std::size_t n = 0; n < status.views.size(); ++n) {
        const auto& view = status.views[n];
        if (!view.taken || !kinds::is_read_by(view.owner)) continue;
        readers_at_one one(engine, whom.node_of({static_cast<std::uint16_t>(n)}),
                           kinds::readers_key(name));
        const auto found = one.read(view);
        if (status.no_readers.empty()) status.no_readers = one.why_not();
        if (!found) continue;
        ++asked;
        status.reading = std::max(status.reading.value_or(0), one.count());
        for (const auto& each : *found) {
            auto& said = all[each.who.owner];
            if (said.count++ == 0) said.who = each;
            said.who.who.remaining = std::max(said.who.who.remaining, each.who.remaining);
        }
    }
    if (!whom.carries(asked)) return;
    status.readers.emplace();
    for (auto& [owner, said] : all) {
        if (whom.carries(said.count)) status.readers->push_back(std::move(said.who));
    }
    std::stable_sort(status.readers->begin(), status.readers->end(),
                     [](auto& a, auto& b) { return a.who.remaining > b.who.remaining; });
    if (status.readers->size() > max_readers_told) status.readers->resize(max_readers_told);
}

}  // namespace holdfast::detail
