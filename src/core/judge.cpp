#include "core/judge.hpp"

#include <algorithm>

namespace holdfast::core {

std::optional<conflict> find_conflict(std::span<const server_facts> nodes) {
    for (std::size_t a = 0; a < nodes.size(); ++a) {
        for (std::size_t b = a + 1; b < nodes.size(); ++b) {
            if (nodes[a].run_id.empty() || nodes[b].run_id.empty()) continue;
            if (nodes[a].run_id == nodes[b].run_id) {
                return conflict{a, b, conflict::kind::same_server};
            }
            const bool replicates = nodes[a].is_replica || nodes[b].is_replica;
            if (replicates && !nodes[a].replication_id.empty() &&
                nodes[a].replication_id == nodes[b].replication_id) {
                return conflict{a, b, conflict::kind::replica};
            }
        }
    }
    return std::nullopt;
}

bool same_life(const server_facts& before, const server_facts& now) {
    return before.run_id == now.run_id && before.is_replica == now.is_replica &&
           (before.replication_id == now.replication_id || now.second_replication_id.empty());
}

std::string life_of(const server_facts& facts) {
    return facts.run_id.empty() ? "" : facts.run_id + ' ' + facts.replication_id;
}

void judge::disconnected() {
    standing_ = standing::unjudged;
    flaw_ = flaw::none;
}

judge::standing judge::assess(const server_facts& facts, time_point now) {
    if (facts.run_id.empty() || facts.run_id != run_id_) clock_.forget();
    run_id_ = facts.run_id;
    quarantined_until_.reset();
    flaw_ = flaw::none;
    // Who is not told that the server was emptied would count votes of a server that forgot.
    if (guards() && !facts.tracking) flaw_ = flaw::untracked;
    if (facts.is_replica) flaw_ = flaw::replica;
    const bool evicts = !facts.eviction_policy.empty() && facts.eviction_policy != "noeviction";
    if (evicts && !policy_.allow_eviction) flaw_ = flaw::evicts;
    standing_ = flaw_ == flaw::none ? standing::fit : standing::unfit;
    return at(now);
}

void judge::enlisted(const enlistment& found, time_point now) {
    const bool another = found.begun || found.floor != floor_;
    floor_ = found.floor;
    const auto until = now + found.quarantine;
    const bool news = another || !quarantined_until_;
    if (guards()) quarantined_until_ = news ? until : std::min(*quarantined_until_, until);
    const bool disagreed = flaw_ == flaw::other_max_ttl || flaw_ == flaw::other_group;
    if (flaw_ != flaw::none && !disagreed) return;
    flaw_ = flaw::none;
    if (guards() && !found.agreed) flaw_ = flaw::other_max_ttl;
    if (found.group != 0) flaw_ = flaw::other_group;
    standing_ = flaw_ == flaw::none ? standing::fit : standing::unfit;
}

std::optional<duration> judge::heartbeat(std::chrono::microseconds server, time_point sent,
                                         time_point received) {
    if (standing_ == standing::unjudged) return std::nullopt;
    const auto jump = clock_.observe(server, sent, received);
    if (jump) voided_until_ = received + policy_.max_ttl;
    return jump;
}

judge::standing judge::at(time_point now) const {
    if (standing_ != standing::fit) return standing_;
    if (now < voided_until_) return standing::voided;
    return now < quarantined_until() ? standing::quarantined : standing::fit;
}

}  // namespace holdfast::core
