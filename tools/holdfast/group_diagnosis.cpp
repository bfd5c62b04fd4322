#include "group_diagnosis.hpp"

#include <algorithm>
#include <map>

#include "holdfast/duration.hpp"

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;

// Replicas confirm once a second.
constexpr auto long_lag = 2s;

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

void look_at_replicas(const group_report& group, std::vector<finding>& into) {
    const auto* const said = first_answer(group);
    const auto known = said == nullptr ? group.replicas.size() : said->replicas;
    const auto online =
        static_cast<std::size_t>(std::count_if(group.replicas.begin(), group.replicas.end(),
                                               [](const auto& each) { return each.online; }));
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

void look_at_writes(const group_report& group, std::vector<finding>& into) {
    if (!group.min_replicas_to_write) {
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

std::vector<finding> diagnose_replicas(const group_report& group) {
    std::vector<finding> findings;
    look_at_replicas(group, findings);
    look_at_writes(group, findings);
    return findings;
}

}  // namespace holdfast::tool
