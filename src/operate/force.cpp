#include <algorithm>
#include <system_error>
#include <utility>

#include "api/access.hpp"
#include "holdfast/error.hpp"
#include "holdfast/operate.hpp"
#include "kinds/election.hpp"
#include "kinds/owners.hpp"
#include "kinds/table.hpp"
#include "net/explain.hpp"
#include "resp/view.hpp"
#include "runtime/operations/failures.hpp"
#include "runtime/operations/tally.hpp"

namespace holdfast {
namespace {

using answers = std::vector<runtime::query::answer>;
using detail::engine_of;

constexpr auto note_kept_for = std::chrono::hours(24 * 30);

/// Who held it, without what would have allowed a release.
std::string readable(const std::string& owner) {
    const auto who = parse_owner(owner);
    if (who.foreign()) return owner.substr(0, max_label_bytes);
    const std::string label = who.label.empty() ? "" : ":" + who.label;
    return who.user + "@" + who.host + ":" + std::to_string(who.pid) + label;
}

/// `user@host:pid` of this process.
std::string ourselves(const runtime::engine& engine) {
    const std::string_view signature = engine.signature();  // with a colon at either end
    return std::string(signature.substr(1, signature.size() - 2));
}

release_result result_of(runtime::engine& engine, const runtime::electorate& voters,
                         const answers& all) HOLDFAST_LOCKED {
    const runtime::tally said(voters, all, [](resp::view reply) -> runtime::opinion {
        if (reply.is_error()) return net::explain(reply);
        return reply.integer().value_or(0) > 0 ? runtime::ballot::yes : runtime::ballot::no;
    });
    if (said.carried()) return release_result::released;
    if (said.refused()) return release_result::already_lost;
    runtime::raise(said.why(engine));
}

/// Tells those who watch the election. Where it is refused they find out by themselves.
void forget_leader(runtime::engine& engine, base::client_lock& lock,
                   const runtime::electorate& voters, const std::string& name,
                   std::string_view owner) HOLDFAST_LOCKED {
    (void)runtime::query::run(engine, voters, lock, [&](std::string& out, bool) {
        kinds::forget_leader(out, name, owner);
    });
    engine.changed_here(name);
}

std::optional<forced_release> note_in(const runtime::query::answer& answer) {
    const auto* reply = std::get_if<std::string>(&answer);
    if (reply == nullptr) return std::nullopt;
    const resp::view fields(*reply);
    if (fields.is_error() || fields.size() != 4 || !fields.at(0)->as_integer()) return std::nullopt;
    const auto text = [&](std::size_t n) { return std::string(fields.at(n)->text()); };
    return forced_release{.at = std::chrono::system_clock::time_point(
                              std::chrono::seconds(*fields.at(0)->as_integer())),
                          .by = text(1),
                          .held_by = text(2),
                          .reason = text(3)};
}

}  // namespace

release_result force_unlock(client& through, std::string_view key, std::string_view owner,
                            std::string_view reason) {
    if (reason.empty() || reason.size() > max_reason_bytes) {
        throw std::system_error(errc::invalid_option, "a lock is taken away for a reason of 1 to " +
                                                          std::to_string(max_reason_bytes) +
                                                          " bytes");
    }
    auto& engine = engine_of(through);
    const auto plan = runtime::make_plan(
        through.settings(), key, {.ttl = through.settings().max_ttl}, kinds::of_owner(owner));
    const auto held_by = readable(std::string(owner));
    auto lock = engine.lock();
    const auto voters = engine.voters_of(plan->keys.lock);
    const auto all = runtime::query::run(engine, voters, lock, [&](std::string& out, bool) {
        plan->kind->force(out, plan->claim_by(owner), note_kept_for,
                          {.by = ourselves(engine), .held_by = held_by, .reason = reason});
    });
    const auto result = result_of(engine, voters, all);
    if (result == release_result::released) {
        if (kinds::is_led_by(owner)) forget_leader(engine, lock, voters, plan->keys.lock, owner);
        engine.log(log_level::warning, "forced_release",
                   "released by force, held by " + held_by + ": " + std::string(reason),
                   plan->name());
    }
    return result;
}

std::optional<forced_release> last_forced(client& through, std::string_view key) {
    auto& engine = engine_of(through);
    const auto plan = runtime::make_plan(through.settings(), key);
    auto lock = engine.lock();
    const auto all = runtime::query::run(
        engine, engine.voters_of(plan->keys.lock), lock,
        {"HMGET", kinds::forced_key(plan->keys.lock), "at", "by", "held_by", "reason"});
    std::optional<forced_release> last;
    for (const auto& answer : all) {
        auto note = note_in(answer);
        if (note && (!last || note->at > last->at)) last = std::move(note);
    }
    return last;
}

}  // namespace holdfast
