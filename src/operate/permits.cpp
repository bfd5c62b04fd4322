#include "operate/permits.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "api/access.hpp"
#include "holdfast/error.hpp"
#include "holdfast/semaphore.hpp"
#include "kinds/keys.hpp"
#include "kinds/semaphore.hpp"
#include "net/explain.hpp"
#include "operate/interview.hpp"
#include "operate/server_clock.hpp"
#include "resp/view.hpp"
#include "runtime/operations/failures.hpp"
#include "runtime/operations/query.hpp"

namespace holdfast {
namespace detail {
namespace {

using std::chrono::milliseconds;

/// The questions about one semaphore, to the one server that has it.
class permits_at_one {
  public:
    permits_at_one(runtime::engine& engine, core::node_index node, const std::string& name)
        : engine_(engine), node_(node), name_(name), permits_(kinds::permits_key(name)) {}

    std::optional<std::uint32_t> limit() {
        const auto said = ask({"HGET", name_, "limit"});
        const auto number = said ? resp::view(*said).as_integer() : std::nullopt;
        if (!number || *number < 1 || *number > max_permits) return std::nullopt;
        return static_cast<std::uint32_t>(*number);
    }

    /// By their slots. nullopt: it may not be looked at.
    std::optional<std::vector<lock_status::permit>> holders() {
        const auto time = ask({"TIME"});
        if (!time) return std::nullopt;
        const auto now = micros_of(*time) / 1000;
        const auto all = ask({"ZRANGEBYSCORE", permits_, "(" + std::to_string(now), "+inf", "LIMIT",
                              "0", std::to_string(max_permits_told)});
        if (!all) return std::nullopt;
        std::vector<lock_status::permit> found;
        const resp::view owners(*all);
        for (const auto owner : owners) {
            lock_status::permit each{parse_owner(std::string(owner.text()))};
            if (each.who.foreign()) continue;
            const auto slot = ask({"HGET", name_, each.who.owner});
            const auto number = slot ? resp::view(*slot).as_integer() : std::nullopt;
            if (!number) continue;  // let go meanwhile
            each.slot = static_cast<std::uint32_t>(*number);
            const auto ends = ask({"ZSCORE", permits_, each.who.owner});
            if (ends) each.who.remaining = left(resp::view(*ends), now);
            found.push_back(std::move(each));
        }
        std::sort(found.begin(), found.end(),
                  [](const auto& a, const auto& b) { return a.slot < b.slot; });
        return found;
    }

    std::uint64_t token() {
        const auto said = ask({"GET", kinds::counter_key(name_)});
        const auto number = said ? resp::view(*said).as_integer() : std::nullopt;
        return static_cast<std::uint64_t>(std::max(number.value_or(0), std::int64_t{0}));
    }

  private:
    static std::optional<milliseconds> left(resp::view score, std::int64_t now) {
        auto ends = score.as_integer();
        if (!ends && score.number()) ends = static_cast<std::int64_t>(*score.number());
        if (!ends) return std::nullopt;
        return milliseconds(std::max(*ends - now, std::int64_t{0}));
    }

    std::optional<std::string> ask(const std::vector<std::string>& command) {
        auto lock = engine_.lock();
        auto answer = runtime::query::run_on(engine_, lock, node_, command);
        lock.unlock();
        if (std::holds_alternative<net::failure>(answer)) return std::nullopt;
        auto reply = std::get<std::string>(std::move(answer));
        if (resp::view(reply).is_error()) return std::nullopt;
        return reply;
    }

    runtime::engine& engine_;
    core::node_index node_;
    const std::string& name_;
    std::string permits_;
};

runtime::electorate voters_of(runtime::engine& engine, const std::string& name) {
    const auto lock = engine.lock();
    return engine.voters_of(name);
}

}  // namespace

std::optional<lock_status> read_semaphore(runtime::engine& engine, const std::string& name,
                                          queue_view how_much) {
    const auto whom = voters_of(engine, name);
    if (whom.size() != 1) return std::nullopt;
    permits_at_one one(engine, whom.node_of({0}), name);
    const auto limit = one.limit();
    if (!limit) return std::nullopt;
    lock_status status{.key = name.substr(engine.settings().prefix.size()), .nodes = 1};
    status.limit = limit;
    status.permits = one.holders();
    if (status.permits && !status.permits->empty()) {
        const auto last = std::max_element(
            status.permits->begin(), status.permits->end(),
            [](const auto& a, const auto& b) { return a.who.remaining < b.who.remaining; });
        status.held_by = last->who;
        status.votes = 1;
    }
    status.token = one.token();
    lock_status::node_view view{.node = name_of(engine, whom.node_of({0}))};
    view.taken = status.held_by.has_value();
    if (view.taken) view.owner = status.held_by->owner;
    if (view.taken) view.remaining = status.held_by->remaining;
    status.views.push_back(std::move(view));
    read_queue(status, engine, whom, name, how_much);
    return status;
}

std::array<std::string, 2> globs_beside_semaphores(std::string_view glob) {
    const std::string own(kinds::own_keys);
    return {own + "{" + std::string(glob) + "}:permits", own + "permits:" + std::string(glob)};
}

std::string semaphore_beside(std::string_view permits) {
    constexpr std::string_view after = "}:permits";
    constexpr std::string_view before = "permits:";
    if (!permits.starts_with(kinds::own_keys)) return {};
    auto rest = permits.substr(kinds::own_keys.size());
    if (rest.starts_with(before)) {
        rest.remove_prefix(before.size());
    } else if (rest.starts_with('{') && rest.ends_with(after)) {
        rest = rest.substr(1, rest.size() - 1 - after.size());
    }
    return kinds::permits_key(rest) == permits ? std::string(rest) : std::string{};
}

}  // namespace detail

std::uint32_t set_limit(client& through, std::string_view key, std::uint32_t permits) {
    if (permits < 1 || permits > max_permits) {
        throw std::system_error(errc::invalid_option,
                                "a semaphore has 1 to " + std::to_string(max_permits) + " permits");
    }
    auto& engine = detail::engine_of(through);
    const auto plan = runtime::make_plan(through.settings(), key,
                                         {.ttl = through.settings().max_ttl}, kinds::semaphore());
    auto lock = engine.lock();
    const auto node = engine.voters_of(plan->keys.lock).node_of({0});
    const auto answer = runtime::query::run_on(engine, lock, node, [&](std::string& out, bool) {
        kinds::append_set_limit(out, plan->keys, permits, plan->retention);
    });
    if (const auto* why = std::get_if<net::failure>(&answer)) {
        runtime::raise(engine.named(node, *why));
    }
    const resp::view reply(std::get<std::string>(answer));
    if (!reply.integer()) {
        runtime::raise(
            engine.named(node, reply.is_error() ? net::explain(reply) : kinds::refused(reply)));
    }
    return static_cast<std::uint32_t>(*reply.integer());
}

}  // namespace holdfast
