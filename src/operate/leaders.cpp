#include "operate/leaders.hpp"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "api/leader_look.hpp"
#include "kinds/election.hpp"
#include "net/explain.hpp"
#include "resp/view.hpp"
#include "runtime/operations/query.hpp"

namespace holdfast::detail {
namespace {

std::string why_not(const runtime::query::answer& answer) {
    if (const auto* why = std::get_if<net::failure>(&answer)) return why->message;
    const resp::view reply(std::get<std::string>(answer));
    return reply.is_error() ? net::explain(reply).message : std::string();
}

/// nullopt: it could not say.
std::optional<leader> leader_at(const runtime::query::answer& note,
                                const lock_status::node_view& lock) {
    if (!why_not(note).empty() || !lock.error.empty()) return std::nullopt;
    auto found = leader_noted(resp::view(std::get<std::string>(note)).text(), lock.owner);
    if (found && lock.taken) found.who.remaining = lock.remaining;
    return found;
}

}  // namespace

void read_leader(lock_status& status, runtime::engine& engine, const runtime::electorate& whom,
                 const std::string& name) {
    if (!status.held_by || !status.held_by->leads) return;
    auto lock = engine.lock();
    const auto notes = runtime::query::run(
        engine, whom, lock,
        {"GETRANGE", kinds::leader_key(name), "0", std::to_string(kinds::most_note_bytes() - 1)});
    lock.unlock();
    std::vector<std::optional<leader>> said;
    for (std::size_t n = 0; n < notes.size(); ++n) {
        said.push_back(leader_at(notes[n], status.views[n]));
        if (status.no_leader.empty()) status.no_leader = why_not(notes[n]);
    }
    auto elected = elect_leader(said, whom);
    if (!elected) return;
    status.no_leader.clear();
    if (*elected) status.leader = std::move(*elected);
}

}  // namespace holdfast::detail
