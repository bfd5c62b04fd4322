// What the checkers make of the commands that servers have run: the other half of
// `sim/check/checkers.hpp`.

#include <charconv>

#include "sim/check/checkers.hpp"

namespace holdfast::sim {
namespace {

bool asks_for_vote(std::string_view name) { return name == "acquire" || name == "set"; }

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

void checkers::executed(const place& where, const execution& what, bool for_ever) {
    if (!concerns_lock(what)) {
        if (world_.traced()) tell(where, what);
        return;
    }
    const auto text = what.arguments.front();
    const auto who = know(text, where.client, where.departed);
    if (world_.traced()) tell(where, what);
    auto& record = owners_[who];
    const core::node_index server{static_cast<std::uint8_t>(where.server)};
    if (asks_for_vote(what.name)) {
        if (where.abandoned) record.strayed_to.insert(server);
        check_outsider(where);
        check_floor(what, who);
        voted(where, who);
    }
    const bool deleted = what.before != nullptr && *what.before == text && what.after == nullptr;
    if (what.name == "release" && deleted) record.released_at.insert(server);
    check_ownership(where, what, text);
    if (for_ever) {
        report(rule::orphan, "server " + std::to_string(where.server) + " keeps the key of " +
                                 name_of_owner(who) + " for ever");
    }
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
    if (what.arguments.size() < 5 || !what.answer.starts_with(granted)) return;
    const auto last = number_at(what.answer.substr(granted.size()));
    const auto tokens = number_at(what.arguments[3]);
    const auto floor = number_at(what.arguments[4]);
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

void checkers::check_ownership(const place& where, const execution& what, std::string_view text) {
    const bool ours = what.before != nullptr && *what.before == text;
    const bool succeeded = what.answer == ":1\r\n";
    const bool touched =
        what.before != nullptr && (what.after == nullptr || *what.after != *what.before);
    if (ours || !(succeeded || touched)) return;
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
