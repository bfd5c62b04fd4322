// What the checkers make of the commands that servers have run: the other half of
// `sim/check/checkers.hpp`.

#include <charconv>

#include "sim/check/checkers.hpp"

namespace holdfast::sim {
namespace {

bool asks_for_vote(std::string_view name) {
    return name == "acquire" || name == "queue_acquire" || name == "set";
}

bool releases(std::string_view name) { return name == "release" || name == "queue_release"; }

bool concerns_lock(const execution& what) {
    return !what.keys.empty() && what.keys.front() == lock_key && !what.arguments.empty();
}

std::uint64_t number_at(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

std::string_view first_line(std::string_view answer) { return answer.substr(0, answer.find('\r')); }

}  // namespace

void checkers::executed(const place& where, const execution& what, bool for_ever,
                        const sequel* after) {
    const bool is_called = what.name == "subscribe" && !what.answer.starts_with('-');
    if (is_called) called_on_.insert(where.connection);
    if (!concerns_lock(what)) {
        if (world_.traced()) tell(where, what);
        return;
    }
    const auto text = what.arguments.front();
    // A release may arrive first, and says nothing about when the vote was asked for.
    const auto who = know(text, where.client, {});
    if (world_.traced()) tell(where, what);
    auto& record = owners_[who];
    const core::node_index server{static_cast<std::uint8_t>(where.server)};
    if (asks_for_vote(what.name)) {
        if (where.abandoned) record.strayed_to.insert(server);
        record.departed = std::max(record.departed, where.departed);
        record.first_departed = std::min(record.first_departed, where.departed);
        check_outsider(where);
        check_floor(what, who);
        voted(where, who);
    }
    const auto made =
        after == nullptr ? change_by(what) : change_by(what, held_before_, after->held);
    const bool let_go = made.was_askers && !made.is_askers;
    if (releases(what.name) && let_go) record.released_at.insert(server);
    begin_batches(made);
    if (!world_.settings().grouped()) {
        line_.executed(what, made, world_.now(), *this);
        if (after != nullptr) {
            line_.check_readers_behind(what, made, after->queue, world_.now(), *this);
        }
        pace_.executed(what, made);
    }
    check_shortcut(where, what);
    check_entry(where, what, who);
    check_ownership(where, what, text, made);
    if (after != nullptr && after->held.are_outlived()) {
        report(rule::stall, "the lock lives on when all who read it on server " +
                                std::to_string(where.server) + " have ended");
    }
    if (for_ever) {
        report(rule::orphan, "server " + std::to_string(where.server) + " keeps the key of " +
                                 name_of_owner(who) + " for ever");
    }
}

// Who lost the lock, stood in line under the same owner and was granted it there has waited for its
// turn.
void checkers::begin_batches(const lock_change& made) {
    if (world_.settings().nodes > 1) return;
    for (const auto& name : made.newcomers) {
        if (const auto known = names_.find(name); known != names_.end()) {
            owners_[known->second].holders = 0;
        }
    }
}

// Plain SET passes the queue: whoever sends it was told last that nobody stood in line. What was
// told within a round trip, or over a connection that was disturbed, it may not have heard.
void checkers::check_shortcut(const place& where, const execution& what) {
    if (!world_.settings().alone()) return;
    auto& told = told_[where.client];
    if (releases(what.name) && what.answer == ":1\r\n") told.nobody_waits = world_.now();
    if (what.answer.starts_with("*4\r\n:0\r\n")) told.denied = world_.now();
    if (what.name != "set") return;
    const auto& settings = world_.settings();
    const bool heard = told.denied < where.departed - settings.base_delay * 8 &&
                       network_.disturbed_at(where.client, where.server) < told.denied &&
                       !settings.has(fault::client_pause);
    const bool denied_since = told.denied > told.nobody_waits && heard;
    if (told.nobody_waits > instant{} && !denied_since) return;
    report(rule::line, "client " + std::to_string(where.client) +
                           " goes past the line, although it was not told that there is none");
}

// What was begun before the connection was there may name an entry that was right for the one
// before. Whoever was answered over this one knows better.
void checkers::check_entry(const place& where, const execution& what, owner_id who) {
    if (what.name != "queue_acquire" || world_.settings().grouped()) return;
    const bool behind_tokens = !reads(what.arguments.front()) && what.keys.size() == 3;
    const std::size_t entry_at = behind_tokens ? 5 : 2;
    if (what.arguments.size() <= entry_at || what.arguments[entry_at].empty()) return;
    const bool callable = !what.arguments[entry_at].starts_with("- ");
    if (callable == called_on_.contains(where.connection)) return;
    auto& last = owners_[who].miscalled_on;
    if (last == where.connection) {
        report(rule::line, name_of_owner(who) + " stands in line as one who can" +
                               (callable ? "" : "not") + " be called, although it can" +
                               (callable ? "not" : ""));
    }
    if (what.answer.starts_with("*4\r\n")) last = where.connection;
}

void checkers::check_outsider(const place& where) {
    if (!world_.settings().is_outsider(where.client)) return;
    report(rule::outsider, "client " + std::to_string(where.client) + " asks server " +
                               std::to_string(where.server) +
                               " for its vote, although it cannot keep to the guard");
}

// Within the assumptions no clock is below a token of an earlier life when the quarantine is over,
// so that the order alone would hardly ever show what was drawn below the floor.
void checkers::check_floor(const execution& what, owner_id who) {
    constexpr std::string_view granted = "*2\r\n:1\r\n:";
    const bool in_line = what.name == "queue_acquire" && reads(what.arguments.front());
    const std::size_t tokens_at = in_line ? 5 : 3;
    const bool fenced = world_.settings().fencing;
    if (!fenced || what.arguments.size() < tokens_at + 2 || !what.answer.starts_with(granted))
        return;
    const auto last = number_at(what.answer.substr(granted.size()));
    const auto tokens = number_at(what.arguments[tokens_at]);
    const auto floor = number_at(what.arguments[tokens_at + 1]);
    if (last + 1 >= floor + tokens) return;
    report(rule::token_order, name_of_owner(who) + " drew tokens up to " + std::to_string(last) +
                                  ", which begin below the floor " + std::to_string(floor));
}

// Where one caller asks for one thing after the other, what follows on a connection was begun when
// what came before was over.
void checkers::voted(const place& where, owner_id who) {
    if (clocks_.must_know_of_jump(where.client, where.server, where.departed)) {
        report(rule::voided_vote, "client " + std::to_string(where.client) + " asks server " +
                                      std::to_string(where.server) +
                                      " for its vote, although it has seen its clock jump");
    }
    if (last_on_.size() <= where.connection) last_on_.resize(where.connection + 1);
    const auto last = std::exchange(last_on_[where.connection], who);
    auto& record = owners_[who];
    auto& unheld = unheld_[where.client];
    const bool fresh = record.held_by == 0 && record.over_at == instant::max();
    if (fresh && std::ranges::find(unheld, who) == unheld.end()) unheld.push_back(who);
    const bool sequel = world_.settings().workers == 1 && last != 0 && last != who;
    if (!sequel || std::erase(unheld, last) == 0) return;
    end_owner(last, world_.now(), owners_[last].departed + world_.settings().timing.ttl, false);
}

void checkers::check_ownership(const place& where, const execution& what, std::string_view text,
                               const lock_change& made) {
    const bool succeeded = what.answer == ":1\r\n" || what.answer == ":2\r\n";
    const bool allowed = made.was_askers || !succeeded;
    if (allowed && !made.took_from_others) return;
    report(rule::ownership, std::string(what.name) + " by o" + std::to_string(owner_named(text)) +
                                " succeeded on server " + std::to_string(where.server) +
                                ", which belonged to " + name_of_text(what.before));
}

void checkers::tell(const place& where, const execution& what) const {
    const auto said = std::string(first_line(what.answer));
    const auto name = std::string(what.name);
    const auto who = "server " + std::to_string(where.server);
    if (!concerns_lock(what)) {
        return world_.tracer().line(world_.now(), who.c_str(), "%s of client %u: %s", name.c_str(),
                                    where.client, said.c_str());
    }
    world_.tracer().line(world_.now(), who.c_str(), "%s of client %u, o%u: %s; owner %s -> %s",
                         name.c_str(), where.client, owner_named(what.arguments.front()),
                         said.c_str(), name_of_text(what.before).c_str(),
                         name_of_text(what.after).c_str());
}

}  // namespace holdfast::sim
