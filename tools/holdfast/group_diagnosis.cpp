#include "group_diagnosis.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "holdfast/duration.hpp"

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;

// Replicas confirm once a second.
constexpr auto long_lag = 2s;
constexpr auto clocks_apart = 1s;

std::string counted(std::size_t number, const std::string& what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

const sentinel_report* first_answer(const group_report& group) {
    const auto found = std::find_if(group.sentinels.begin(), group.sentinels.end(),
                                    [](const auto& each) { return each.error.empty(); });
    return found == group.sentinels.end() ? nullptr : &*found;
}

void look_at_silence(const group_report& group, std::vector<finding>& into) {
    for (const auto& each : group.sentinels) {
        if (each.error.empty()) continue;
        into.push_back({"sentinel", verdict::warning, each.node + ": " + each.error,
                        "start it, or take it out of the URL"});
    }
}

void look_at_agreement(const group_report& group, std::vector<finding>& into) {
    std::map<std::string, std::string> named;
    for (const auto& each : group.sentinels) {
        if (!each.error.empty()) continue;
        auto& by = named[each.names];
        by += (by.empty() ? "" : ", ") + each.node;
    }
    if (named.size() == 1) {
        into.push_back(
            {"sentinels", verdict::good,
             named.begin()->second + " name " + named.begin()->first + " as " + group.master_name});
        return;
    }
    for (const auto& [address, by] : named) {
        into.push_back({"sentinels", verdict::bad, by + " name " + address + " as the master",
                        "they disagree: wait for the end of a fail-over, else see their logs, and "
                        "SENTINEL RESET " +
                            group.master_name + " at those who are wrong",
                        exit_code::unavailable});
    }
}

void look_at_count(const group_report& group, std::vector<finding>& into) {
    const auto* const said = first_answer(group);
    if (said == nullptr) return;
    const auto count = said->sentinels;
    const auto found = counted(count, "Sentinel") + ", quorum " + std::to_string(said->quorum);
    if (count < 3) {
        into.push_back({"election", verdict::warning,
                        found + ": without one of them nobody promotes a replica",
                        "run three, on machines that fail independently"});
    } else if (count % 2 == 0) {
        into.push_back(
            {"election", verdict::warning,
             found + ": one more than " + std::to_string(count - 1) + " survives no more failures",
             "run an odd number of them"});
    } else if (said->quorum > count / 2 + 1) {
        into.push_back(
            {"election", verdict::warning, found + ": more must agree than a majority",
             "SENTINEL SET " + group.master_name + " quorum " + std::to_string(count / 2 + 1)});
    } else {
        into.push_back({"election", verdict::good, found});
    }
    if (count > group.sentinels.size()) {
        into.push_back({"sentinels", verdict::warning,
                        "the URL lists " + std::to_string(group.sentinels.size()) + " of " +
                            counted(count, "Sentinel"),
                        "list all of them, so that one that is down keeps nobody out"});
    }
}

// Who does not know all replicas names a smaller group, and asks for fewer acknowledgements.
void look_at_knowledge(const group_report& group, std::vector<finding>& into) {
    for (const auto& each : group.sentinels) {
        if (!each.error.empty() || each.replicas + 1 == group.members) continue;
        into.push_back({"sentinels", verdict::warning,
                        each.node + " knows " + counted(each.replicas, "replica") + " of " +
                            std::to_string(group.members - 1),
                        "wait for ten seconds; if it stays so, SENTINEL RESET " +
                            group.master_name + " at those who know too many or too few"});
    }
}

std::size_t online_in(const group_report& group) {
    return static_cast<std::size_t>(std::count_if(group.replicas.begin(), group.replicas.end(),
                                                  [](const auto& each) { return each.online; }));
}

void look_at_replicas(const group_report& group, std::vector<finding>& into) {
    const auto known = group.members - 1;
    const auto online = online_in(group);
    if (known == 0) {
        into.push_back({"replicas", verdict::warning,
                        "none: nobody can take the place of this master", "add a replica or two"});
    } else if (online < known) {
        into.push_back({"replicas", verdict::warning,
                        std::to_string(online) + " of " + counted(known, "replica") + " online",
                        "bring the others back; or, if they are gone for good, SENTINEL RESET " +
                            group.master_name});
    } else {
        into.push_back({"replicas", verdict::good, counted(online, "replica") + " online"});
    }
    for (const auto& each : group.replicas) {
        if (!each.online || each.lag < long_lag) continue;
        into.push_back({"lag", verdict::warning,
                        each.node + " is " + format_duration(each.lag) + " and " +
                            std::to_string(each.bytes_behind) + " bytes behind",
                        "see its log and its network: what it lacks is lost if it is promoted"});
    }
}

/// What would be wrong with it as a master.
void look_at_each_replica(const server_report& master, const options& settings,
                          std::vector<finding>& into) {
    const auto warn = [&](const std::string& found, const std::string& fix) {
        into.push_back({"replica", verdict::warning, found, fix});
    };
    for (const auto& each : master.group->replicas) {
        if (!each.error.empty()) {
            warn(each.node + " cannot be asked: " + each.error,
                 "clients have to reach it, with the same user, when it is promoted");
            continue;
        }
        const bool evicts = !each.eviction_policy.empty() && each.eviction_policy != "noeviction";
        if (evicts && !settings.allow_eviction) {
            warn(each.node + " has maxmemory-policy " + each.eviction_policy +
                     ": once it is promoted it grants no locks",
                 "redis-cli config set maxmemory-policy noeviction, there, and in its file");
        }
        if (!each.clock_difference || !master.clock_difference) continue;
        const auto apart = *each.clock_difference - *master.clock_difference;
        if (std::chrono::abs(apart) < clocks_apart) continue;
        warn(each.node + ": its clock is " + format_duration(std::chrono::abs(apart)) +
                 (apart.count() > 0 ? " ahead of" : " behind") + " its master's",
             "synchronise their clocks (NTP): tokens and quarantines are counted by them");
    }
}

bool is_majority(const group_report& group) { return group.acks >= group.members / 2; }

void look_at_acknowledgement(const group_report& group, std::vector<finding>& into) {
    const auto add = [&](verdict value, const std::string& found, const std::string& fix = "") {
        into.push_back({"acknowledged", value, found, fix, exit_code::unavailable});
    };
    const auto wanted =
        "by " + counted(group.acks, "replica") + " of " + std::to_string(group.members - 1);
    const auto online = online_in(group);
    if (group.acks > online) {
        add(verdict::bad,
            wanted + ", and " + std::to_string(online) + " online: no lock is granted",
            "bring replicas back");
    } else if (!is_majority(group)) {
        add(verdict::warning,
            (group.acks == 0 ? "by no replica" : wanted) +
                ": a fail-over may give a lock to two holders, with tokens in no order",
            "replica_acks=majority in the URL, for every client");
    } else if (group.members == 2) {
        add(verdict::warning, wanted + ": a majority of two is two, any failure stops all locks",
            "add a replica");
    } else {
        add(verdict::good, group.acks == 0 ? "there is nobody to know of a lock" : wanted);
    }
}

void look_at_size(const group_report& group, std::vector<finding>& into) {
    if (!group.agreed_on || *group.agreed_on == group.members) return;
    const auto found = "its clients agreed on " + counted(*group.agreed_on, "server") +
                       ", and there are " + std::to_string(group.members);
    const std::string note = "holdfast enlist --fresh, while nobody holds a lock";
    if (*group.agreed_on < group.members) {
        into.push_back({"group", verdict::warning,
                        found + ": " + counted(group.acks, "replica") + " must acknowledge", note});
    } else {
        into.push_back({"group", verdict::bad, found + ": it is asked for no votes",
                        "bring the replicas back; or, if they are gone for good, " + note,
                        exit_code::unavailable});
    }
}

void look_at_writes(const group_report& group, std::vector<finding>& into) {
    const bool counts = group.acks > 0 && is_majority(group);
    if (counts && group.min_replicas_to_write.value_or(0) > group.acks) {
        into.push_back({"cut off", verdict::warning,
                        "it refuses writes without " +
                            counted(*group.min_replicas_to_write, "replica") +
                            " in touch, and for a lock " + std::to_string(group.acks) + " would do",
                        "redis-cli config set min-replicas-to-write " + std::to_string(group.acks) +
                            ", on every server"});
    } else if (counts) {
        into.push_back({"cut off", verdict::good,
                        "what a master grants without its replicas counts for nobody"});
    } else if (!group.min_replicas_to_write) {
        into.push_back(
            {"cut off", verdict::warning, "min-replicas-to-write not known", "allow CONFIG GET"});
    } else if (*group.min_replicas_to_write == 0) {
        into.push_back({"cut off", verdict::warning,
                        "a master that is cut off goes on granting locks for ever",
                        "on every server: redis-cli config set min-replicas-to-write 1, and "
                        "min-replicas-max-lag"});
    } else {
        into.push_back({"cut off", verdict::good,
                        "refuses writes without " +
                            counted(*group.min_replicas_to_write, "replica") + " in touch"});
    }
}

}  // namespace

std::vector<finding> diagnose_sentinels(const group_report& group) {
    std::vector<finding> findings;
    look_at_agreement(group, findings);
    look_at_silence(group, findings);
    look_at_count(group, findings);
    return findings;
}

std::vector<finding> diagnose_replicas(const server_report& master, const options& settings) {
    std::vector<finding> findings;
    const auto& group = *master.group;
    look_at_knowledge(group, findings);
    look_at_replicas(group, findings);
    look_at_each_replica(master, settings, findings);
    look_at_acknowledgement(group, findings);
    look_at_size(group, findings);
    look_at_writes(group, findings);
    return findings;
}

}  // namespace holdfast::tool
