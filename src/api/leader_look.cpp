#include "api/leader_look.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "kinds/election.hpp"
#include "net/explain.hpp"
#include "resp/encoder.hpp"
#include "runtime/operations/failures.hpp"

namespace holdfast::detail {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_owner_bytes = 1024;

enum question : std::size_t { note, owner, left };

void append_start_of(std::string& out, std::string_view key, std::size_t bytes) {
    resp::append_command(out, {"GETRANGE", key, "0", resp::decimal{bytes - 1}.text()});
}

/// A reply that says something, or why there is none.
using spoken = std::variant<resp::view, net::failure>;

spoken read(const runtime::query::answer& answer) {
    if (const auto* why = std::get_if<net::failure>(&answer)) return *why;
    const resp::view reply(std::get<std::string>(answer));
    if (!reply.is_error()) return reply;
    return net::explain(reply);
}

/// The leader in the term that a majority names. nullopt: the votes for this owner bring different
/// terms, and which one it will be is not settled yet.
std::optional<leader> in_one_term(const std::vector<std::optional<leader>>& said,
                                  const std::string& owner, const runtime::electorate& of) {
    std::map<std::uint64_t, std::size_t> votes;
    for (const auto& each : said) {
        if (!each || each->who.owner != owner) continue;
        if (of.carries(++votes[each->term])) return each;
    }
    return std::nullopt;
}

}  // namespace

leader leader_noted(std::string_view note, std::string_view lock) {
    const auto noted = kinds::read_note(note);
    if (!noted || noted->owner != lock) return {};
    return {.term = noted->term,
            .value = std::string(noted->value),
            .who = parse_owner(std::string(noted->owner))};
}

std::optional<leader> elect_leader(const std::vector<std::optional<leader>>& said,
                                   const runtime::electorate& of) {
    std::map<std::string, std::size_t> votes;
    std::size_t silent = 0;
    for (const auto& each : said) {
        if (!each) ++silent;
        if (each && *each) ++votes[each->who.owner];
    }
    std::size_t most = 0;
    for (const auto& [owner, count] : votes) {
        most = std::max(most, count);
        if (!of.carries(count)) continue;
        auto found = in_one_term(said, owner, of);
        if (!found) return leader{};
        for (const auto& each : said) {
            if (each && each->who.owner == owner) {
                found->who.remaining = std::min(found->who.remaining, each->who.remaining);
            }
        }
        return found;
    }
    if (of.carries(most + silent)) return std::nullopt;
    return leader{};
}

leader_look::leader_look(std::string lock, std::optional<leader> known)
    : lock_(std::move(lock)), note_(kinds::leader_key(lock_)), known_(std::move(known)) {}

void leader_look::ask(std::size_t which, bool, std::string& out) const {
    switch (which) {
        case note: return append_start_of(out, note_, kinds::most_note_bytes());
        case owner: return append_start_of(out, lock_, most_owner_bytes);
        default: return resp::append_command(out, {"PTTL", lock_});
    }
}

// Whoever may not ask for the ttl is told of a leader that crashed when the net under it says so.
runtime::watched::finding leader_look::judge(runtime::engine& through,
                                             const runtime::electorate& of, const answers& all) {
    std::vector<std::optional<leader>> said(of.size());
    std::vector<std::optional<net::failure>> failures(of.size());
    for (std::size_t voter = 0; voter < of.size(); ++voter) {
        const auto* const first = &all[voter * questions()];
        const auto noted = read(first[note]);
        const auto held = read(first[owner]);
        const auto ttl = read(first[left]);
        for (const auto* each : {&noted, &held}) {
            if (const auto* why = std::get_if<net::failure>(each)) failures[voter] = *why;
        }
        if (failures[voter]) continue;
        said[voter] =
            leader_noted(std::get<resp::view>(noted).text(), std::get<resp::view>(held).text());
        const auto* const time = std::get_if<resp::view>(&ttl);
        const auto remaining = time != nullptr ? time->integer() : std::nullopt;
        if (remaining && *remaining >= 0) said[voter]->who.remaining = milliseconds(*remaining);
    }
    auto elected = elect_leader(said, of);
    if (!elected) {
        return {.failed = runtime::summarize_failures(through, of, failures, 0, 0)};
    }
    found_ = std::move(*elected);
    const bool same = known_ && known_->term == found_.term && known_->value == found_.value &&
                      known_->who.owner == found_.who.owner;
    return {.satisfied = !same, .changes_in = found_.who.remaining};
}

}  // namespace holdfast::detail
