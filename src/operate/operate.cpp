#include "holdfast/operate.hpp"

#include <algorithm>
#include <optional>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "api/access.hpp"
#include "api/release.hpp"
#include "core/contend.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/error.hpp"
#include "kinds/latch.hpp"
#include "kinds/owners.hpp"
#include "kinds/semaphore.hpp"
#include "kinds/table.hpp"
#include "net/explain.hpp"
#include "operate/interview.hpp"
#include "operate/latches.hpp"
#include "operate/leaders.hpp"
#include "operate/observer.hpp"
#include "operate/permits.hpp"
#include "operate/readers.hpp"
#include "operate/waiters.hpp"
#include "resp/view.hpp"
#include "runtime/cluster.hpp"
#include "runtime/operations/failures.hpp"
#include "runtime/operations/tally.hpp"

namespace holdfast {
namespace {

using answers = std::vector<runtime::query::answer>;
using detail::engine_of;
using detail::queue_view;
using detail::voters_of;
using std::chrono::milliseconds;

/// The first bytes of what a key holds. A key may hold anything, of any size.
std::vector<std::string> read_start(const std::string& key, std::size_t bytes) {
    return {"GETRANGE", key, "0", std::to_string(bytes - 1)};
}

const std::string* text_of(const runtime::query::answer& answer) {
    return std::get_if<std::string>(&answer);
}

answers ask(runtime::engine& engine, const runtime::electorate& whom,
            const std::vector<std::string>& command) {
    auto lock = engine.lock();
    return runtime::query::run(engine, whom, lock, command);
}

std::string why_not(const runtime::query::answer& answer) {
    if (const auto* why = std::get_if<net::failure>(&answer)) return why->message;
    const resp::view reply(*text_of(answer));
    return reply.is_error() ? resp::to_string(reply) : std::string{};
}

/// Throws unless a majority of the answers is an answer.
void require_majority(runtime::engine& engine, const runtime::electorate& whom,
                      const answers& all) {
    const runtime::tally said(whom, all, runtime::read_answer);
    if (said.carried()) return;
    const auto lock = engine.lock();
    runtime::raise(said.why_silent(engine));
}

std::string full_key(client& through, std::string_view key) {
    return runtime::make_plan(through.settings(), key)->keys.lock;
}

/// Redisson keeps a lock as a hash with a field `<uuid>:<thread>`, and few others.
bool is_redisson_owner(std::string_view field) {
    constexpr std::size_t uuid = 36;
    return field.size() > uuid + 1 && field[uuid] == ':' &&
           field.find_first_not_of("0123456789abcdef-") == uuid &&
           field.find_first_of("0123456789", uuid) == uuid + 1;
}

runtime::query::answer ask_one(runtime::engine& engine, core::node_index node,
                               const std::vector<std::string>& command) {
    auto lock = engine.lock();
    return runtime::query::run_on(engine, lock, node, command);
}

/// The owner of Redisson's lock at a key that is no string, as a frame.
std::optional<std::string> redisson_owner(runtime::engine& engine, core::node_index node,
                                          const std::string& name) {
    constexpr std::int64_t few = 16;
    const auto ask_it = [&](const char* command) {
        const auto answer = ask_one(engine, node, {command, name});
        return text_of(answer) == nullptr ? std::string() : *text_of(answer);
    };
    const auto count = ask_it("HLEN");
    if (count.empty() || resp::view(count).integer().value_or(few + 1) > few) return std::nullopt;
    const auto fields = ask_it("HKEYS");
    if (fields.empty()) return std::nullopt;
    const resp::view all(fields);
    for (const auto field : all) {
        if (!is_redisson_owner(field.text())) continue;
        return "$" + std::to_string(field.text().size()) + "\r\n" + std::string(field.text()) +
               "\r\n";
    }
    return std::nullopt;
}

/// What each node has at the key, as far as it can be an owner.
answers read_owners(runtime::engine& engine, const runtime::electorate& whom,
                    const std::string& name) {
    auto owners = ask(engine, whom, read_start(name, max_owner_bytes));
    for (std::size_t n = 0; n < owners.size(); ++n) {
        if (text_of(owners[n]) == nullptr) continue;
        const auto node = whom.node_of({static_cast<std::uint8_t>(n)});
        const resp::view reply(*text_of(owners[n]));
        if (!reply.is_error() || net::explain(reply).code != errc::wrong_type) continue;
        auto found = redisson_owner(engine, node, name);
        if (found) owners[n] = std::move(*found);
    }
    return owners;
}

/// -2: there is nothing; -1: it stays for ever.
std::int64_t milliseconds_left(const runtime::query::answer& ttl) {
    return text_of(ttl) == nullptr ? -2 : resp::view(*text_of(ttl)).integer().value_or(-2);
}

/// The range of a missing key is that of an empty value, which keeps everybody out. What is empty
/// and has a ttl may also have come in between, so that is looked at once more.
void look_again_at_empty(runtime::engine& engine, const runtime::electorate& whom,
                         const std::string& name, answers& owners, const answers& ttls) {
    for (std::size_t n = 0; n < owners.size(); ++n) {
        if (text_of(owners[n]) == nullptr || milliseconds_left(ttls[n]) == -2) continue;
        const resp::view reply(*text_of(owners[n]));
        if (reply.is_error() || !reply.text().empty()) continue;
        owners[n] = ask_one(engine, whom.node_of({static_cast<std::uint8_t>(n)}),
                            read_start(name, max_owner_bytes));
    }
}

lock_status::node_view view_of(std::string node, const runtime::query::answer& owner,
                               const runtime::query::answer& ttl) {
    lock_status::node_view view{.node = std::move(node), .error = why_not(owner)};
    if (view.error.empty() && text_of(ttl) == nullptr) view.error = why_not(ttl);
    if (!view.error.empty()) return view;
    view.owner = resp::view(*text_of(owner)).text();
    const auto left = milliseconds_left(ttl);
    view.taken = left != -2 || !view.owner.empty();
    if (left >= 0) view.remaining = milliseconds(left);
    return view;
}

std::size_t votes_for(const lock_status& status, const std::string& owner) {
    return static_cast<std::size_t>(std::count_if(
        status.views.begin(), status.views.end(),
        [&](const auto& view) { return view.taken && kinds::same_holders(view.owner, owner); }));
}

void elect_holder(lock_status& status) {
    for (const auto& view : status.views) {
        if (!view.taken) continue;
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

/// Whether a node has something else there, which keeps everybody with fencing out.
bool is_no_counter(const runtime::query::answer& answer) {
    if (text_of(answer) == nullptr) return false;
    const resp::view reply(*text_of(answer));
    if (reply.is_error()) return net::explain(reply).code == errc::wrong_type;
    return !reply.is_null() && !reply.as_integer();
}

std::optional<milliseconds> quarantine_of(net::voter& node, core::time_point now) HOLDFAST_LOCKED {
    if (node.judge().at(now) != core::judge::standing::quarantined) return std::nullopt;
    return std::chrono::ceil<milliseconds>(node.judge().quarantined_until() - now);
}

/// Until so few are in it that the others are a majority. Those out of reach may come back.
std::optional<milliseconds> common_quarantine(runtime::engine& engine,
                                              const runtime::electorate& whom) {
    const auto lock = engine.lock();
    const auto now = engine.now();
    std::vector<core::duration> left;
    for (const auto voter : whom.voters()) {
        const auto each = quarantine_of(engine.voter(whom.node_of(voter)), now);
        if (each) left.emplace_back(*each);
    }
    const auto until = core::summarize({.remaining = left, .nodes = whom.size()});
    if (until.remaining < core::duration{0}) return std::nullopt;
    return std::chrono::ceil<milliseconds>(until.remaining);
}

void note_quarantines(lock_status& status, runtime::engine& engine,
                      const runtime::electorate& whom) {
    status.quarantine = common_quarantine(engine, whom);
    const auto lock = engine.lock();
    for (std::size_t n = 0; n < status.views.size(); ++n) {
        auto& node = engine.voter(whom.node_of({static_cast<std::uint16_t>(n)}));
        status.views[n].quarantine = quarantine_of(node, engine.now());
    }
}

/// What is kept beside a lock of any kind.
void note_surroundings(lock_status& status, runtime::engine& engine,
                       const runtime::electorate& whom, const std::string& name,
                       queue_view of_the_queue) {
    const auto counter = kinds::counter_key(name);
    const auto counters = ask(engine, whom, {"GET", counter});
    status.token = highest_counter(counters);
    if (std::any_of(counters.begin(), counters.end(), is_no_counter)) {
        status.no_token = "what is at " + counter + " is no counter";
    }
    detail::read_queue(status, engine, whom, name, of_the_queue);
    note_quarantines(status, engine, whom);
}

lock_status inspect_whole(runtime::engine& engine, const std::string& name,
                          queue_view of_the_queue) {
    const auto whom = voters_of(engine, name);
    auto owners = read_owners(engine, whom, name);
    require_majority(engine, whom, owners);
    const auto ttls = ask(engine, whom, {"PTTL", name});
    // A refusal is an answer: who may not ask for the ttl sees the owner all the same.
    const auto answered = std::count_if(ttls.begin(), ttls.end(),
                                        [](const auto& ttl) { return text_of(ttl) != nullptr; });
    if (!whom.carries(static_cast<std::size_t>(answered))) require_majority(engine, whom, ttls);
    look_again_at_empty(engine, whom, name, owners, ttls);
    const bool ttl_known = std::any_of(ttls.begin(), ttls.end(), [](const auto& ttl) {
        return text_of(ttl) != nullptr && !resp::view(*text_of(ttl)).is_error();
    });
    lock_status status{.key = name.substr(engine.settings().prefix.size()),
                       .ttl_known = ttl_known,
                       .nodes = owners.size()};
    for (std::size_t n = 0; n < owners.size(); ++n) {
        status.views.push_back(
            view_of(detail::name_of(engine, whom.node_of({static_cast<std::uint8_t>(n)})),
                    owners[n], ttls[n]));
    }
    elect_holder(status);
    detail::read_readers(status, engine, whom, name);
    detail::read_leader(status, engine, whom, name);
    note_surroundings(status, engine, whom, name, of_the_queue);
    return status;
}

/// nullopt: it is no semaphore.
std::optional<lock_status> inspect_semaphore(runtime::engine& engine, const std::string& name,
                                             queue_view of_the_queue) {
    const auto whom = voters_of(engine, name);
    lock_status status{.key = name.substr(engine.settings().prefix.size()), .nodes = whom.size()};
    if (!detail::read_permits(status, engine, whom, name)) return std::nullopt;
    lock_status::node_view view{.node = detail::name_of(engine, whom.node_of({0})),
                                .taken = status.held_by.has_value()};
    if (view.taken) {
        view.owner = status.held_by->owner;
        view.remaining = status.held_by->remaining;
    }
    status.views.push_back(std::move(view));
    note_surroundings(status, engine, whom, name, of_the_queue);
    return status;
}

/// `a list, ` as the first node that says so calls it; empty: none does.
std::string kind_of(runtime::engine& engine, const std::string& name) {
    for (const auto& answer : ask(engine, voters_of(engine, name), {"TYPE", name})) {
        if (text_of(answer) == nullptr || resp::view(*text_of(answer)).is_error()) continue;
        const auto said = resp::view(*text_of(answer)).text();
        if (said == "none" || said == "string") continue;
        return "a " + (said == "zset" ? "sorted set" : std::string(said)) + ", ";
    }
    return {};
}

/// Whether any node has it for an owner of ours. Of all else as little is read as shows that.
bool is_ours(runtime::engine& engine, const std::string& name) {
    const auto whom = voters_of(engine, name);
    const auto starts = ask(engine, whom, read_start(name, kinds::owner_start_bytes));
    const bool ours = std::any_of(starts.begin(), starts.end(), [](const auto& answer) {
        return text_of(answer) != nullptr && kinds::is_owner(resp::view(*text_of(answer)).text());
    });
    if (ours) return true;
    try {
        require_majority(engine, whom, starts);
    } catch (const std::system_error& error) {
        if (error.code() != errc::wrong_type) throw;  // no string any more, and so no lock
    }
    return false;
}

[[noreturn]] void raise_from(runtime::engine& engine, core::node_index node,
                             const net::failure& why) {
    const auto lock = engine.lock();
    runtime::raise(engine.named(node, why));
}

/// Throws where other clients agreed on another max_ttl, or on another replication group: a longer
/// ttl than theirs would outlast the quarantine of a server that forgot.
void require_agreement(runtime::engine& engine, const runtime::electorate& whom) {
    require_majority(engine, whom, ask(engine, whom, {"PING"}));
    const auto lock = engine.lock();
    for (const auto voter : whom.voters()) {
        auto& node = engine.voter(whom.node_of(voter));
        const auto why = node.judge().reason();
        const bool differs =
            why == core::judge::flaw::other_max_ttl || why == core::judge::flaw::other_group;
        if (!node.ready() || !differs) continue;
        runtime::raise(engine.named(node, node.disagreement()));
    }
}

/// The glob that matches this text alone.
std::string literally(std::string_view text) {
    std::string glob;
    for (const char letter : text) {
        if (std::string_view("*?[]\\").find(letter) != std::string_view::npos) glob += '\\';
        glob += letter;
    }
    return glob;
}

/// One node's keys that match, all pages of SCAN.
void scan(runtime::engine& engine, core::node_index node, const std::string& glob,
          const std::string& type, std::unordered_set<std::string>& found) {
    std::string cursor = "0";
    do {
        auto lock = engine.lock();
        const auto page = runtime::query::run_on(
            engine, lock, node, {"SCAN", cursor, "MATCH", glob, "COUNT", "1000", "TYPE", type});
        lock.unlock();
        if (const auto* why = std::get_if<net::failure>(&page)) raise_from(engine, node, *why);
        const resp::view reply(*text_of(page));
        if (reply.is_error()) raise_from(engine, node, net::explain(reply));
        if (reply.size() != 2) return;
        cursor = reply.at(0)->text();
        const auto keys = *reply.at(1);
        for (const auto key : keys) found.emplace(key.text());
    } while (cursor != "0");
}

// In a Cluster each server has keys that no other has.
std::size_t enough_of(runtime::engine& engine, std::size_t servers, bool whole) {
    const auto lock = engine.lock();
    return whole || engine.cluster() != nullptr ? servers : core::majority(servers);
}

/// The keys that match, of as many of all nodes as can be asked: which keys there are is no
/// question to those who vote on one of them. Throws where too few could be asked: not all of them,
/// if that is to be the whole truth, or less than a majority.
std::unordered_set<std::string> scan_enough(runtime::engine& engine, const std::string& glob,
                                            bool whole, const std::string& type = "string") {
    std::unordered_set<std::string> found;
    std::size_t well = 0;
    const auto all = detail::servers_of(engine);
    for (std::size_t n = 0; n < all.size(); ++n) {
        try {
            scan(engine, all[n], glob, type, found);
            ++well;
        } catch (const std::system_error&) {
            const auto left = all.size() - n - 1;
            if (well + left < enough_of(engine, all.size(), whole)) throw;
        }
    }
    return found;
}

void visit_locks(runtime::engine& engine, const std::unordered_set<std::string>& keys,
                 const lock_visitor& visit) {
    for (const auto& key : keys) {
        // What is kept beside locks is none. In a Cluster there is a record for each slot.
        if (key.starts_with(kinds::own_keys) || !is_ours(engine, key)) continue;
        const auto status = inspect_whole(engine, key, queue_view::length);
        if (status.held_by && !status.held_by->foreign()) visit(status);
    }
}

/// Semaphores that somebody has a permit of. They are no strings, and kept by one server: a client
/// of several has none.
void visit_semaphores(runtime::engine& engine, const std::string& pattern,
                      const lock_visitor& visit) {
    if (engine.settings().urls.size() != 1) return;
    for (const auto& key :
         scan_enough(engine, pattern, false, std::string(kinds::semaphore().stored_as()))) {
        const auto status = inspect_semaphore(engine, key, queue_view::length);
        if (status && status->held_by) visit(*status);
    }
}

void visit_latches(runtime::engine& engine, const std::string& pattern, const lock_visitor& visit) {
    if (engine.settings().urls.size() != 1) return;  // a quorum has none
    for (const auto& glob : detail::globs_beside_latches(pattern)) {
        for (const auto& key : scan_enough(engine, glob, false)) {
            const auto found = detail::find_latch(engine, std::string(kinds::latch_of(key)));
            if (found) visit(*found);
        }
    }
}

/// Whether any node has it for an owner of ours. Throws unless all of them could say: what one of
/// them has nobody else may know.
bool is_anywhere_ours(runtime::engine& engine, const std::string& name) {
    bool ours = false;
    const auto whom = voters_of(engine, name);
    const auto starts = ask(engine, whom, read_start(name, kinds::owner_start_bytes));
    for (std::size_t voter = 0; voter < starts.size(); ++voter) {
        const auto node = whom.node_of({static_cast<std::uint8_t>(voter)});
        if (const auto* why = std::get_if<net::failure>(&starts[voter])) {
            raise_from(engine, node, *why);
        }
        const resp::view reply(*text_of(starts[voter]));
        ours = ours || kinds::is_owner(reply.text());
        if (!reply.is_error()) continue;
        const auto why = net::explain(reply);
        if (why.code != errc::wrong_type)
            raise_from(engine, node, why);  // no string, and so no lock
    }
    return ours;
}

/// Looks through the client's own connections; where their servers cannot be written to, and so
/// cannot be enlisted (no memory, no disk, no replicas), through others, which enlist none. Not
/// behind the restart guard: what a server has forgotten is known by its record alone. Of a slot of
/// a Cluster that cannot be enlisted what is there is shown all the same: as much as there is to
/// see.
class onlooker {
  public:
    explicit onlooker(client& through) : through_(through), engine_(&engine_of(through)) {}

    /// From now on through connections that enlist nothing.
    void stand_apart() {
        apart_.emplace(through_, through_.settings().prefix);
        engine_ = &apart_->engine();
    }

    template <typename Look>
    auto look(Look&& at) {
        try {
            return at(*engine_);
        } catch (const std::system_error& error) {
            if (apart_ || !is_for_want_of_enlisting(error)) throw;
        }
        stand_apart();
        return at(*engine_);
    }

    [[nodiscard]] bool in_cluster() const {
        const auto lock = engine_->lock();
        return engine_->cluster() != nullptr;
    }

    /// The one that was looked through last.
    [[nodiscard]] runtime::engine& engine() const { return *engine_; }

  private:
    [[nodiscard]] bool is_for_want_of_enlisting(const std::system_error& error) const {
        if (in_cluster() && error.code() == errc::unreachable) return true;
        return error.code() == errc::server_error && !*through_.settings().restart_guard;
    }

    client& through_;
    runtime::engine* engine_;
    std::optional<detail::observer> apart_;
};

/// What is done in the name of an owner is done as its kind of lock wants it.
runtime::plan_pointer plan_of(client& through, std::string_view key, std::string_view owner,
                              milliseconds ttl) {
    auto plan = runtime::make_plan(through.settings(), key, {.ttl = ttl}, kinds::of_owner(owner));
    auto& engine = engine_of(through);
    const auto lock = engine.lock();
    engine.note_use(*plan->kind);
    return plan;
}

/// Whether a majority has done it for the owner; false: so many say that it is not that owner's
/// that none can. Throws where too few could say.
bool done_for_owner(client& through, const runtime::plan& what,
                    const runtime::query::writer& request) {
    auto& engine = engine_of(through);
    auto lock = engine.lock();
    const auto whom = engine.voters_of(what.keys.lock);
    const auto all = runtime::query::run_acknowledged(engine, whom, lock, request);
    lock.unlock();
    const runtime::tally said(whom, all, [&](resp::view reply) {
        return runtime::opinion_of(what.kind->read_ownership(reply));
    });
    if (said.carried()) return true;
    if (said.refused()) return false;
    require_majority(engine, whom, all);
    throw std::system_error(errc::unreachable, "too few servers could say");
}

}  // namespace

lock_status inspect(client& through, std::string_view key) {
    onlooker with(through);
    const auto name = full_key(through, key);
    try {
        return with.look([&](runtime::engine& engine) {
            return inspect_whole(engine, name, queue_view::entries);
        });
    } catch (const std::system_error& error) {
        if (error.code() != errc::wrong_type) throw;
        auto semaphore = inspect_semaphore(with.engine(), name, queue_view::entries);
        if (semaphore) return std::move(*semaphore);
        if (auto latch = detail::find_latch(with.engine(), name)) return *latch;
        // What the server calls it says no more than its kind.
        const auto kind = kind_of(with.engine(), name);
        const auto said = kind.empty() ? ": " + runtime::said_by(error) : std::string{};
        runtime::refuse(errc::wrong_type,
                        "'" + std::string(key) + "' is " + kind + "no lock" + said);
    }
}

std::optional<milliseconds> quarantine(client& through) {
    auto& engine = engine_of(through);
    auto lock = engine.lock();
    if (const auto* const slots = engine.cluster()) {
        const auto left = slots->longest_quarantine(engine.now());
        if (left <= core::duration{0}) return std::nullopt;
        return std::chrono::ceil<milliseconds>(left);
    }
    const auto all = engine.voters_of({});
    lock.unlock();
    return common_quarantine(engine, all);
}

std::vector<std::string> server_names(client& through) {
    auto& engine = engine_of(through);
    const auto lock = engine.lock();
    std::vector<std::string> names;
    if (auto* const found = engine.cluster()) {
        for (std::size_t n = 0; n < found->map().masters().size(); ++n) {
            if (found->map().served_by(n) > 0) names.push_back(found->server(n).name());
        }
        if (!names.empty()) return names;
    }
    for (std::size_t n = 0; n < engine.node_count(); ++n) {
        names.push_back(engine.node(engine.node_at(n)).name());
    }
    return names;
}

void list(client& through, std::string_view glob, const lock_visitor& visit) {
    onlooker with(through);
    // To list the locks of a Cluster must not put each of its slots into quarantine.
    if (with.in_cluster()) with.stand_apart();
    const auto pattern = literally(through.settings().prefix) + std::string(glob);
    const auto keys =
        with.look([&](runtime::engine& engine) { return scan_enough(engine, pattern, false); });
    visit_locks(with.engine(), keys, visit);
    visit_semaphores(with.engine(), pattern, visit);
    visit_latches(with.engine(), pattern, visit);
}

void list_everywhere(client& through, const lock_visitor& visit) {
    const detail::observer looking(through);
    auto& engine = looking.engine();
    for (const auto& key : scan_enough(engine, "*", true)) {
        if (key.starts_with(kinds::own_keys) || !is_anywhere_ours(engine, key)) continue;
        const auto status = inspect_whole(engine, key, queue_view::length);
        for (const auto& view : status.views) {
            if (!view.error.empty())
                runtime::refuse(errc::unreachable, view.node + ": " + view.error);
        }
        if (status.held_by) visit(status);
    }
    visit_semaphores(engine, "*", visit);
}

release_result unlock(client& through, std::string_view key, std::string_view owner) {
    auto& engine = engine_of(through);
    const auto plan = plan_of(through, key, owner, through.settings().max_ttl);
    runtime::waiter caller(engine.driving());
    auto lock = engine.lock();
    const auto now = engine.now();
    const auto operation = runtime::releasing::start(
        engine, {plan, std::make_shared<std::string>(owner), now + engine.settings().max_ttl}, now,
        [&](const runtime::releasing&) HOLDFAST_LOCKED { engine.driving().finished(caller); });
    engine.submit();
    engine.driving().wait(lock, caller);
    if (operation->outcome() == core::release::verdict::unknown) {
        runtime::raise(operation->last_failure());
    }
    // Servers do not tell a connection of what it changed itself.
    const auto whom = engine.voters_of(plan->keys.lock);
    for (const auto voter : whom.voters()) {
        engine.queues().notified(plan->keys.lock, whom.node_of(voter), engine.now());
    }
    engine.submit();
    return detail::to_public(operation->outcome());
}

std::optional<clock::time_point> renew(client& through, std::string_view key,
                                       std::string_view owner, milliseconds ttl) {
    const auto plan = plan_of(through, key, owner, ttl);
    require_agreement(engine_of(through), voters_of(engine_of(through), plan->keys.lock));
    const auto sent = engine_of(through).now();
    const bool extended = done_for_owner(through, *plan, [&](std::string& out, bool by_text) {
        plan->kind->extend(out, by_text, plan->claim_by(owner));
    });
    if (!extended) return std::nullopt;
    return plan->timing.valid_until(sent);
}

bool linger(client& through, std::string_view key, std::string_view owner, milliseconds how_long) {
    if (how_long < milliseconds(1) || how_long > longest_time) {
        throw std::system_error(errc::invalid_option,
                                "a lock lingers for 1ms to " + format_duration(longest_time));
    }
    const auto plan = plan_of(through, key, owner, through.settings().max_ttl);
    auto claim = plan->claim_by(owner);
    claim.ttl = how_long;
    claim.retention = std::max<core::duration>(plan->retention, how_long);
    return done_for_owner(through, *plan,
                          [&](std::string& out, bool) { plan->kind->linger(out, claim); });
}

}  // namespace holdfast
