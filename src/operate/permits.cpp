#include "operate/permits.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>
#include <variant>

#include "api/access.hpp"
#include "api/permits.hpp"
#include "holdfast/error.hpp"
#include "holdfast/semaphore.hpp"
#include "kinds/semaphore.hpp"
#include "net/explain.hpp"
#include "operate/asking.hpp"
#include "operate/server_clock.hpp"
#include "resp/view.hpp"
#include "runtime/operations/failures.hpp"

namespace holdfast {
namespace detail {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// The questions about one semaphore, to the one server that has it.
class permits_at_one {
  public:
    permits_at_one(runtime::engine& engine, core::node_index node, const std::string& name)
        : at_(engine, node, name, "no semaphore") {}

    /// nullopt: there is none, or it may not be looked at.
    std::optional<std::uint32_t> limit() {
        const auto first = at_.ask({"ZRANGE", at_.key(), "0", "0", "WITHSCORES"});
        std::optional<std::uint32_t> found;
        if (!first) return found;
        for_each_member(resp::view(*first), [&](std::string_view member, double score) {
            if (member == kinds::limit_member) found = kinds::read_limit(score);
        });
        return found;
    }

    void read_holders(lock_status& status) {
        const auto time = at_.ask({"TIME"});
        if (!time) return;
        const microseconds now(micros_of(*time));
        const auto alive = kinds::lowest_score_alive_at(now);
        const auto all = at_.ask({"ZRANGEBYSCORE", at_.key(), alive, "+inf", "WITHSCORES", "LIMIT",
                                  "0", std::to_string(max_permits_told)});
        if (!all) return;
        status.permits = listed(resp::view(*all), now);
        status.taken = at_.count({"ZCOUNT", at_.key(), alive, "+inf"});
    }

  private:
    static std::vector<lock_status::permit> listed(resp::view all, microseconds now) {
        std::vector<lock_status::permit> found;
        for_each_member(all, [&](std::string_view owner, double score) {
            const auto said = kinds::read_permit(score);
            lock_status::permit each{parse_owner(std::string(owner.substr(0, max_owner_bytes))),
                                     said.slot};
            const auto left = std::chrono::floor<milliseconds>(said.over_at - now);
            each.who.remaining = std::max(left, milliseconds(0));
            if (!each.who.foreign()) found.push_back(std::move(each));
        });
        std::sort(found.begin(), found.end(),
                  [](const auto& a, const auto& b) { return a.slot < b.slot; });
        return found;
    }

    asking at_;
};

}  // namespace

bool read_permits(lock_status& status, runtime::engine& engine, const runtime::electorate& whom,
                  const std::string& name) {
    if (whom.size() != 1) return false;
    permits_at_one one(engine, whom.node_of({0}), name);
    status.limit = one.limit();
    if (!status.limit) return false;
    one.read_holders(status);
    if (!status.permits || status.permits->empty()) return true;
    const auto last = std::max_element(
        status.permits->begin(), status.permits->end(),
        [](const auto& a, const auto& b) { return a.who.remaining < b.who.remaining; });
    status.held_by = last->who;
    status.votes = 1;
    return true;
}

}  // namespace detail

std::uint32_t set_limit(client& through, std::string_view key, std::uint32_t permits) {
    detail::require_permits(permits);
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
    if (!reply.integer()) runtime::raise(engine.named(node, kinds::refused(reply)));
    const auto before = static_cast<std::uint32_t>(*reply.integer());
    if (before != permits) {
        engine.log(
            log_level::warning, "limit",
            "has " + std::to_string(permits) + " permits now, and had " + std::to_string(before),
            plan->name());
    }
    return before;
}

}  // namespace holdfast
