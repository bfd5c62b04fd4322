#include "holdfast/operate.hpp"

#include <algorithm>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "access.hpp"
#include "holdfast/error.hpp"
#include "release.hpp"
#include "resp/view.hpp"
#include "runtime/failures.hpp"
#include "runtime/query.hpp"

namespace holdfast {
namespace {

using answers = std::vector<runtime::query::answer>;
using std::chrono::milliseconds;

const std::string* text_of(const runtime::query::answer& answer) {
    return std::get_if<std::string>(&answer);
}

/// The engine of a client that may be used here.
runtime::engine& engine_of(client& through) {
    const auto& shared = detail::access::shared(through);
    shared->check_process();
    return *shared->engine();
}

answers ask(client& through, const std::vector<std::string>& command) {
    auto& engine = engine_of(through);
    auto lock = engine.lock();
    return runtime::query::run(engine, lock, command);
}

std::string why_not(const runtime::query::answer& answer) {
    if (const auto* why = std::get_if<net::failure>(&answer)) return why->message;
    const resp::view reply(*text_of(answer));
    return reply.is_error() ? resp::to_string(reply) : std::string{};
}

/// Throws unless a majority of the answers is an answer.
void require_majority(client& through, const answers& all) {
    std::vector<std::optional<net::failure>> failures(all.size());
    std::size_t well = 0;
    for (std::size_t n = 0; n < all.size(); ++n) {
        if (const auto* why = std::get_if<net::failure>(&all[n])) {
            failures[n] = *why;
        } else if (const resp::view reply(*text_of(all[n])); reply.is_error()) {
            failures[n] = net::explain(reply);
        } else {
            ++well;
        }
    }
    if (well >= core::majority(all.size())) return;
    runtime::raise(runtime::summarize_failures(engine_of(through), failures, 0, 0));
}

std::string full_key(client& through, std::string_view key) {
    return runtime::make_plan(through.settings(), key, {})->keys.lock;
}

lock_status::node_view view_of(std::string node, const runtime::query::answer& owner,
                               const runtime::query::answer& ttl) {
    lock_status::node_view view{.node = std::move(node), .error = why_not(owner)};
    if (!view.error.empty() || text_of(ttl) == nullptr) return view;
    view.owner = resp::view(*text_of(owner)).text();
    const auto left = resp::view(*text_of(ttl)).integer().value_or(-2);
    if (left >= 0) view.remaining = milliseconds(left);
    return view;
}

std::size_t votes_for(const lock_status& status, const std::string& owner) {
    return static_cast<std::size_t>(
        std::count_if(status.views.begin(), status.views.end(),
                      [&](const auto& view) { return view.owner == owner; }));
}

void elect_holder(lock_status& status) {
    for (const auto& view : status.views) {
        if (view.owner.empty()) continue;
        const auto votes = votes_for(status, view.owner);
        if (votes <= status.votes) continue;
        status.votes = votes;
        status.held_by = parse_owner(view.owner);
        status.held_by->remaining = view.remaining;
    }
}

std::uint64_t highest_counter(const answers& counters) {
    std::int64_t highest = 0;
    for (const auto& answer : counters) {
        if (text_of(answer) == nullptr) continue;
        highest = std::max(highest, resp::view(*text_of(answer)).as_integer().value_or(0));
    }
    return static_cast<std::uint64_t>(highest);
}

/// `name` is the whole key, with the client's prefix.
lock_status inspect_whole(client& through, const std::string& name) {
    auto& engine = engine_of(through);
    auto owners = ask(through, {"GET", name});
    require_majority(through, owners);
    const auto ttls = ask(through, {"PTTL", name});
    lock_status status{.key = name, .nodes = owners.size()};
    for (std::size_t n = 0; n < owners.size(); ++n) {
        status.views.push_back(
            view_of(engine.node({static_cast<std::uint8_t>(n)}).name(), owners[n], ttls[n]));
    }
    elect_holder(status);
    status.token = highest_counter(ask(through, {"GET", runtime::wire::counter_key(name)}));
    return status;
}

[[noreturn]] void raise_from(const net::node& node, net::failure why) {
    why.message = node.name() + ": " + why.message;
    runtime::raise(why);
}

/// One node's keys that match, all pages of SCAN.
void scan(client& through, core::node_index node, const std::string& glob,
          std::unordered_set<std::string>& found) {
    auto& engine = engine_of(through);
    std::string cursor = "0";
    do {
        auto lock = engine.lock();
        const auto page = runtime::query::run_on(
            engine, lock, node, {"SCAN", cursor, "MATCH", glob, "COUNT", "1000", "TYPE", "string"});
        lock.unlock();
        if (const auto* why = std::get_if<net::failure>(&page)) raise_from(engine.node(node), *why);
        const resp::view reply(*text_of(page));
        if (reply.is_error()) raise_from(engine.node(node), net::explain(reply));
        if (reply.size() != 2) return;
        cursor = reply.at(0)->text();
        const auto keys = *reply.at(1);
        for (const auto key : keys) found.emplace(key.text());
    } while (cursor != "0");
}

}  // namespace

lock_status inspect(client& through, std::string_view key) {
    return inspect_whole(through, full_key(through, key));
}

void list(client& through, std::string_view glob,
          const std::function<void(const lock_status&)>& visit) {
    auto& engine = engine_of(through);
    std::unordered_set<std::string> found;
    std::size_t well = 0;
    for (std::size_t n = 0; n < engine.node_count(); ++n) {
        try {
            scan(through, {static_cast<std::uint8_t>(n)},
                 through.settings().prefix + std::string(glob), found);
            ++well;
        } catch (const std::system_error&) {
            const auto left = engine.node_count() - n - 1;
            if (well + left < core::majority(engine.node_count())) throw;
        }
    }
    for (const auto& key : found) {
        const auto status = inspect_whole(through, key);
        if (status.held_by && !status.held_by->foreign()) visit(status);
    }
}

release_result unlock(client& through, std::string_view key, std::string_view owner) {
    auto& engine = engine_of(through);
    const auto plan = runtime::make_plan(through.settings(), key, {});
    runtime::waiter caller;
    auto lock = engine.lock();
    const auto now = clock::now();
    const auto operation = runtime::releasing::start(
        engine, {plan, std::make_shared<std::string>(owner), now + engine.settings().max_ttl}, now,
        [&](const runtime::releasing&) { engine.driving().finished(caller); });
    engine.submit();
    engine.driving().wait(lock, caller);
    if (operation->outcome() == core::release::verdict::unknown) {
        runtime::raise(operation->last_failure());
    }
    // Servers do not tell a connection of what it changed itself.
    for (std::size_t n = 0; n < engine.node_count(); ++n) {
        engine.waiting().told(plan->keys.lock, {static_cast<std::uint8_t>(n)}, clock::now());
    }
    engine.submit();
    return detail::to_public(operation->outcome());
}

std::optional<clock::time_point> renew(client& through, std::string_view key,
                                       std::string_view owner, milliseconds ttl) {
    auto& engine = engine_of(through);
    acquire_options how;
    how.ttl = ttl;
    const auto plan = runtime::make_plan(through.settings(), key, how);
    const auto sent = clock::now();
    auto lock = engine.lock();
    const auto all = runtime::query::run(engine, lock, [&](std::string& out, bool by_text) {
        runtime::wire::extend(out, by_text, plan->keys, owner, plan->timing.ttl, plan->retention);
    });
    lock.unlock();
    std::size_t extended = 0;
    std::size_t disowned = 0;
    for (const auto& answer : all) {
        if (text_of(answer) == nullptr) continue;
        const auto said = runtime::wire::read_ownership(resp::view(*text_of(answer)));
        const auto* ownership = std::get_if<runtime::wire::ownership>(&said);
        if (ownership == nullptr) continue;
        ++(*ownership == runtime::wire::ownership::ours ? extended : disowned);
    }
    const auto quorum = core::majority(all.size());
    if (extended >= quorum) return plan->timing.valid_until(sent);
    if (disowned > all.size() - quorum) return std::nullopt;
    require_majority(through, all);
    throw std::system_error(errc::unreachable, "too few servers could say");
}

}  // namespace holdfast
