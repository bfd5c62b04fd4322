#include "operate/readers.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "holdfast/error.hpp"
#include "kinds/owners.hpp"
#include "kinds/shared.hpp"
#include "net/explain.hpp"
#include "operate/server_clock.hpp"
#include "resp/view.hpp"
#include "runtime/operations/query.hpp"

namespace holdfast::detail {
namespace {

using std::chrono::milliseconds;

/// The questions about the readers of one lock, to one of the servers that have it.
class readers_at_one {
  public:
    using found = std::vector<lock_status::reader>;

    readers_at_one(runtime::engine& engine, core::node_index node, std::string readers)
        : engine_(engine), node_(node), readers_(std::move(readers)) {}

    /// nullopt: why_not() says why.
    std::optional<found> read(const lock_status::node_view& lock) {
        const auto several = ask({"ZSCORE", readers_, kinds::phase_mark + lock.owner});
        if (!several) return std::nullopt;
        if (resp::view(*several).is_null()) {
            auto who = parse_owner(lock.owner);
            who.remaining = lock.remaining;
            return found{{std::move(who)}};
        }
        const auto time = ask({"TIME"});
        if (!time) return std::nullopt;
        const auto now = micros_of(*time) / 1000;
        const auto all = ask({"ZREVRANGEBYSCORE", readers_, "+inf", "(" + std::to_string(now),
                              "WITHSCORES", "LIMIT", "0", std::to_string(max_readers_told)});
        if (!all) return std::nullopt;
        const auto counted = ask({"ZCOUNT", readers_, "(" + std::to_string(now), "+inf"});
        if (counted) {
            count_ = static_cast<std::size_t>(
                std::max(resp::view(*counted).integer().value_or(0), std::int64_t{0}));
        }
        return listed(resp::view(*all), now);
    }

    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] const std::string& why_not() const { return why_not_; }

  private:
    // RESP3 has pairs, RESP2 one list; scores are doubles or text.
    static found listed(resp::view all, std::int64_t now) {
        found result;
        const auto add = [&](resp::view owner, resp::view score) {
            auto who = parse_owner(std::string(owner.text().substr(0, max_owner_bytes)));
            auto ends = score.as_integer();
            if (!ends && score.number()) ends = static_cast<std::int64_t>(*score.number());
            if (ends) who.remaining = milliseconds(std::max(*ends - now, std::int64_t{0}));
            if (!who.foreign()) result.push_back({std::move(who)});
        };
        std::optional<resp::view> owner;
        for (const auto each : all) {
            if (each.size() == 2 && !each.is_text()) {
                add(*each.at(0), *each.at(1));
            } else if (!owner) {
                owner = each;
            } else {
                add(*owner, each);
                owner.reset();
            }
        }
        return result;
    }

    std::optional<std::string> ask(const std::vector<std::string>& command) {
        auto lock = engine_.lock();
        auto answer = runtime::query::run_on(engine_, lock, node_, command);
        lock.unlock();
        if (const auto* why = std::get_if<net::failure>(&answer)) return refused(why->message);
        auto reply = std::get<std::string>(std::move(answer));
        if (!resp::view(reply).is_error()) return reply;
        const auto why = net::explain(resp::view(reply));
        return refused(why.code == errc::wrong_type
                           ? "what is at " + readers_ + " is no list of readers"
                           : why.message);
    }

    std::nullopt_t refused(std::string why) {
        if (why_not_.empty()) why_not_ = std::move(why);
        return std::nullopt;
    }

    runtime::engine& engine_;
    core::node_index node_;
    std::string readers_;
    std::size_t count_ = 1;
    std::string why_not_;
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
